// The parts of a node's line, from left to right.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/node_reader.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/core_ops.h"
#include "graph/text/graph_reader.h"
#include "graph/text/names.h"
#include "graph/text/placement_reader.h"

namespace partita {
namespace {

using Kind = Token::Kind;

constexpr int kDeepestBody = 16;
constexpr size_t kMostShown = 60;  // characters of an unknown word

// A refused node has no results, so the op names it by its operand. Replaces
// that by the name in the text.
std::string NamedAfterResult(absl::string_view message,
                             absl::string_view by_operand,
                             absl::string_view by_result) {
  if (!absl::ConsumePrefix(&message, by_operand)) return std::string(message);
  return absl::StrCat(by_result, message);
}

}  // namespace

bool NodeReader::Read() {
  if (!ReadResults()) return false;
  const int faults = reader_.num_faults();
  const bool read = ReadAfterResults();
  // A body may have faults; reading continues after it.
  const bool sound = read && reader_.num_faults() == faults;
  if (!sound || !Add()) {
    for (const Result& result : results_) values_.DefineFaulty(result.token);
  }
  return read;
}

bool NodeReader::ReadResults() {
  while (reader_.peek().kind == Kind::kValue) {
    const Token token = reader_.peek();
    std::optional<std::string> name =
        reader_.ReadName(Kind::kValue, "% and a name");
    if (!name.has_value()) return false;
    results_.push_back({token, *std::move(name)});
    if (!reader_.TryTake(',')) break;
  }
  return results_.empty() || reader_.Expect('=');
}

bool NodeReader::ReadAfterResults() {
  return ReadOp() && ReadOperands() && ReadAttributesOrLiteral() &&
         ReadRegions() && ReadTypes() && ReadSuffixes() &&
         reader_.ExpectLineEnd();
}

bool NodeReader::ReadOp() {
  op_ = reader_.peek();
  if (op_.kind != Kind::kWord) return reader_.Fail("an op");
  spec_.op = text_.ops.Find(op_.text);
  if (spec_.op == nullptr) {
    std::vector<std::string> names;
    for (const OpDef* known : text_.ops.ops()) names.push_back(known->name);
    const std::optional<std::string> meant = ProbablyMeant(op_.text, names);
    return reader_.Report(
        op_, absl::StrCat("unknown op ", op_.text.substr(0, kMostShown)),
        absl::StrCat(KnownHere(op_.text, names),
                     meant.has_value() ? "; did you mean " : "",
                     meant.has_value() ? absl::StrCat(*meant, "?") : ""));
  }
  reader_.Take();
  return true;
}

bool NodeReader::ReadOperands() {
  if (reader_.peek().kind != Kind::kValue) return true;
  do {
    reader_.SkipNewlines();
    ValueId value;
    if (!values_.Read(value)) return false;
    spec_.operands.push_back(value);
  } while (reader_.TryTake(','));
  return true;
}

bool NodeReader::ReadAttributesOrLiteral() {
  if (spec_.op == &kConstant && reader_.peek().kind == Kind::kWord) {
    const std::optional<LiteralId> literal = text_.literals.Read(reader_);
    if (literal.has_value()) spec_.attributes.Set("value", *literal);
    return literal.has_value();
  }
  return !reader_.peek().is('{') ||
         ReadAttributes(reader_, *spec_.op, text_.literals, spec_.attributes);
}

bool NodeReader::ReadRegions() {
  while (reader_.peek().is('(') || reader_.peek().kind == Kind::kSymbol) {
    if (depth_ == kDeepestBody) {
      return reader_.Fail(
          absl::StrCat("at most ", kDeepestBody, " bodies in one another"));
    }
    std::unique_ptr<Graph> region = GraphReader(text_, depth_ + 1).ReadRegion();
    if (region == nullptr) return false;
    spec_.regions.push_back(std::move(region));
  }
  return true;
}

bool NodeReader::ReadTypes() {
  if (!reader_.TryTake(':')) return true;
  do {
    type_tokens_.push_back(reader_.peek());
    std::optional<TensorType> type = reader_.ReadType();
    if (!type.has_value()) return false;
    types_.push_back(*std::move(type));
  } while (reader_.TryTake(','));
  return true;
}

bool NodeReader::ReadSuffixes() {
  const auto read_string = [this](std::string& text) {
    std::optional<std::string> read = reader_.ReadString();
    if (read.has_value()) text = *std::move(read);
    return read.has_value();
  };
  const auto take = [this](absl::string_view word) {
    return reader_.ContinuesWith(word) && reader_.TryTake(word);
  };
  if (take("on") && !ReadPlacement(reader_, spec_.placement)) return false;
  if (take("by") && !ReadKernel(reader_, kernel_.emplace())) return false;
  if (take("scope") && !read_string(spec_.scope)) return false;
  return !take("at") || read_string(spec_.location);
}

// "matmul of %x", the start of the op's messages.
std::string NodeReader::LabelByOperand() const {
  if (spec_.operands.empty()) return spec_.op->name;
  const std::string& name = graph_.value(spec_.operands[0]).name;
  return absl::StrCat(
      spec_.op->name, " of %",
      name.empty() ? absl::StrCat(spec_.operands[0].index) : name);
}

bool NodeReader::Add() {
  for (ValueId operand : spec_.operands) {
    if (!operand.valid()) return false;  // reported where it was defined
  }
  for (const Result& result : results_) {
    spec_.result_names.push_back(result.name);
  }
  label_ = absl::StrCat(
      spec_.op->name,
      results_.empty() ? "" : absl::StrCat(" ", results_[0].token.text));
  const std::string by_operand = LabelByOperand();
  const std::string location = std::exchange(spec_.location, "");
  absl::StatusOr<NodeId> node = graph_.AddNode(std::move(spec_));
  if (!node.ok()) {
    return reader_.Report(
        op_, NamedAfterResult(node.status().message(), by_operand, label_));
  }
  node_ = *node;
  graph_.node(node_).location = location;
  graph_.node(node_).kernel = std::move(kernel_);
  return CheckResults();
}

// Defines the results if their number and types are those that the op infers.
bool NodeReader::CheckResults() {
  const ValueIds ids = graph_.node(node_).results;
  if (ids.size() != results_.size()) {
    return reader_.Report(op_, absl::StrCat(label_, ": found ", results_.size(),
                                            " results; expected ", ids.size()));
  }
  if (types_.empty()) {
    TakeLiteralsLayout();
  } else if (!CheckTypes()) {
    return false;
  }
  bool defined = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    defined = values_.Define(results_[i].token, ids[i]) && defined;
  }
  return defined;
}

// A constant without a type has the layout of its literal.
void NodeReader::TakeLiteralsLayout() {
  const OpView op = graph_.view(node_);
  if (!op.is(kConstant)) return;
  graph_.value(op.node().results[0]).type =
      text_.pool.type(op.attr_literal("value"));
}

// The op determines dtype and extents; the text may choose the layout.
bool NodeReader::CheckTypes() {
  const OpView op = graph_.view(node_);
  if (static_cast<int>(types_.size()) != op.num_results()) {
    return reader_.Report(type_tokens_[0],
                          absl::StrCat(label_, ": found ", types_.size(),
                                       " types; expected ", op.num_results()));
  }
  for (int i = 0; i < op.num_results(); ++i) {
    TensorType& inferred = graph_.value(op.node().results[i]).type;
    if (types_[i].RowMajor() != inferred.RowMajor()) {
      return reader_.Report(
          type_tokens_[i],
          absl::StrCat(label_, ": found ", types_[i].ToString(),
                       " in the text; expected ", inferred.ToString(),
                       ", which the op gives; correct or leave out the type"));
    }
    inferred = types_[i];
  }
  return true;
}

}  // namespace partita
