// Reads texts, types and ids of metadata within its size.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/metadata_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/plan_line.h"

namespace partita {

void MetadataReader::Fail(absl::string_view where, absl::string_view message) {
  if (!ok()) return;
  status_ = absl::InvalidArgumentError(absl::StrCat(where, ": ", message));
}

bool MetadataReader::Spend(int64_t bytes) {
  if (!ok()) return false;
  budget_ -= bytes;
  if (budget_ >= 0) return true;
  Fail("metadata",
       "found parts that are used more than once; expected each in one place");
  return false;
}

std::string MetadataReader::Text(const flatbuffers::String* from) {
  if (from == nullptr || !Spend(from->size())) return "";
  return from->str();
}

std::vector<std::string> MetadataReader::Texts(
    const Tables<flatbuffers::String>* from) {
  std::vector<std::string> texts;
  ForEach(from, [&](const flatbuffers::String& text) {
    texts.push_back(Text(&text));
  });
  return texts;
}

TensorType MetadataReader::Type(const flatbuffers::String* from) {
  absl::StatusOr<TensorType> type = ParseTensorType(Text(from));
  if (type.ok()) return *std::move(type);
  Fail("metadata", type.status().message());
  return {};
}

NodeId MetadataReader::Node(int place, absl::Span<const NodeId> order) {
  if (place < 0) return NodeId();
  if (static_cast<size_t>(place) < order.size()) return order[place];
  Fail("metadata",
       absl::StrCat("found node ", place, "; expected one of ", order.size()));
  return NodeId();
}

ContentHash HashOf(const fb::Hash* from) {
  return from == nullptr ? ContentHash{}
                         : ContentHash{from->high(), from->low()};
}

}  // namespace partita
