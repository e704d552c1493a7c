// Reads attribute values by their declared kind.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/attribute_reader.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/text/names.h"
#include "graph/text/number_text.h"

namespace partita {
namespace {

using Kind = Token::Kind;

template <typename T>
bool Keep(std::optional<T> read, AttributeValue& value) {
  if (!read.has_value()) return false;
  value = *std::move(read);
  return true;
}

template <typename T>
bool KeepInList(std::optional<T> read, std::vector<T>& list) {
  if (!read.has_value()) return false;
  list.push_back(*read);
  return true;
}

bool ReadInts(TokenReader& reader, AttributeValue& value) {
  std::vector<int64_t> list;
  const bool read = reader.ReadList(
      '[', ']', [&] { return KeepInList(reader.ReadInt(), list); });
  value = std::move(list);
  return read;
}

bool ReadFloats(TokenReader& reader, AttributeValue& value) {
  std::vector<double> list;
  const bool read = reader.ReadList(
      '[', ']', [&] { return KeepInList(reader.ReadDouble(), list); });
  value = std::move(list);
  return read;
}

bool ReadValue(TokenReader& reader, AttributeKind kind, LiteralReader& literals,
               AttributeValue& value) {
  switch (kind) {
    case AttributeKind::kInt:
      return Keep(reader.ReadInt(), value);
    case AttributeKind::kFloat:
      return Keep(reader.ReadDouble(), value);
    case AttributeKind::kBool:
      return Keep(reader.ReadBool(), value);
    case AttributeKind::kString:
      return Keep(reader.ReadString(), value);
    case AttributeKind::kInts:
      return ReadInts(reader, value);
    case AttributeKind::kFloats:
      return ReadFloats(reader, value);
    case AttributeKind::kDType:
      return Keep(reader.ReadDType(), value);
    case AttributeKind::kNumber:
      return Keep(reader.ReadNumber(), value);
    case AttributeKind::kLiteral:
      break;
  }
  return Keep(literals.Read(reader), value);
}

std::string KnownAttributes(const OpDef& op) {
  std::vector<std::string> names;
  for (const AttrDef& attr : op.attrs) {
    if (attr.name != nullptr) names.push_back(attr.name);
  }
  return absl::StrCat("known here: ",
                      names.empty() ? "none" : absl::StrJoin(names, ", "));
}

bool ReadAttribute(TokenReader& reader, const OpDef& op,
                   LiteralReader& literals, Attributes& attributes) {
  const Token name = reader.peek();
  if (name.kind != Kind::kWord) return reader.Fail("an attribute's name");
  const AttrDef* attr = FindAttr(op, name.text);
  if (attr == nullptr) {
    return reader.Report(name,
                         absl::StrCat("unknown attribute ",
                                      name.text.substr(0, 60), " of ", op.name),
                         KnownAttributes(op));
  }
  if (attributes.Find(name.text) != nullptr) {
    return reader.Report(name, absl::StrCat("found attribute ", name.text,
                                            " twice; expected it once"));
  }
  reader.Take();
  AttributeValue value;
  if (!reader.Expect('=') || !ReadValue(reader, attr->kind, literals, value)) {
    return false;
  }
  attributes.Set(attr->name, std::move(value));
  return true;
}

}  // namespace

LiteralReader::LiteralReader(LiteralPool* pool) : pool_(pool) {
  for (int i = 0; i < pool->size(); ++i) {
    const LiteralId id(i);
    known_.insert({{pool->hash(id), pool->type(id).ToString()}, id});
  }
}

std::optional<LiteralId> LiteralReader::Read(TokenReader& reader) {
  std::optional<TensorType> type = reader.ReadType();
  if (!type.has_value()) return std::nullopt;
  return reader.peek().kind == Kind::kHash
             ? ReadHash(reader, *std::move(type))
             : ReadElements(reader, *std::move(type));
}

std::optional<LiteralId> LiteralReader::ReadHash(TokenReader& reader,
                                                 TensorType type) {
  const std::optional<ContentHash> hash =
      ParseContentHash(reader.peek().text.substr(1));
  if (!hash.has_value()) {
    reader.Report(reader.peek(), "found no content hash; expected 32 digits",
                  "known here: 0..9 and a..f");
    return std::nullopt;
  }
  reader.Take();
  auto [it, is_new] = known_.insert({{*hash, type.ToString()}, LiteralId()});
  if (is_new) it->second = pool_->AddDeclared(std::move(type), *hash);
  return it->second;
}

std::optional<LiteralId> LiteralReader::ReadElements(TokenReader& reader,
                                                     TensorType type) {
  const Token first = reader.peek();
  std::vector<Token> elements;
  const auto take = [&] {
    if (reader.peek().kind != Kind::kNumber &&
        reader.peek().kind != Kind::kWord) {
      return reader.Fail("a number, or # and a content hash");
    }
    elements.push_back(reader.Take());
    return true;
  };
  const bool read = type.rank() == 0 ? take() : reader.ReadList('[', ']', take);
  if (!read) return std::nullopt;
  // Checked before the type's bytes are allocated.
  if (static_cast<int64_t>(elements.size()) != type.num_stored_elements()) {
    reader.Report(
        first,
        absl::StrCat("found ", elements.size(), " elements; expected ",
                     type.num_stored_elements(), " for ", type.ToString()));
    return std::nullopt;
  }
  HostTensor tensor(std::move(type));
  for (size_t i = 0; i < elements.size(); ++i) {
    if (ParseElement(elements[i].text, tensor, static_cast<int64_t>(i))) {
      continue;
    }
    reader.Report(
        elements[i],
        absl::StrCat("found ", elements[i].text.substr(0, 60),
                     "; expected a value of ", DTypeName(tensor.type().dtype)));
    return std::nullopt;
  }
  return pool_->Add(std::move(tensor));
}

bool ReadAttributes(TokenReader& reader, const OpDef& op,
                    LiteralReader& literals, Attributes& attributes) {
  return reader.ReadList('{', '}', [&] {
    return ReadAttribute(reader, op, literals, attributes);
  });
}

}  // namespace partita
