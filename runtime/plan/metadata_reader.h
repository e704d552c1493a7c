// Reads the tables of a plan file's metadata without trusting them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_METADATA_READER_H_
#define PARTITA_RUNTIME_PLAN_METADATA_READER_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/ids.h"
#include "graph/literal_pool.h"
#include "graph/tensor_type.h"
#include "runtime/plan/plan_generated.h"

namespace partita {

template <typename T>
using Tables = flatbuffers::Vector<flatbuffers::Offset<T>>;

// Keeps the first fault. After a fault every call returns an empty result. It
// is also a fault to read more bytes than the metadata has, because tables may
// refer to one another repeatedly. Missing fields read as empty.
class MetadataReader {
 public:
  explicit MetadataReader(int64_t metadata_bytes) : budget_(metadata_bytes) {}

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  void Fail(absl::string_view where, absl::string_view message);
  void Update(const absl::Status& status) { status_.Update(status); }

  // Adds `bytes` to the bytes read. False if they exceed the metadata's size.
  bool Spend(int64_t bytes);
  std::string Text(const flatbuffers::String* from);
  std::vector<std::string> Texts(const Tables<flatbuffers::String>* from);
  TensorType Type(const flatbuffers::String* from);
  // The node at position `place` in the graph's order; -1: none.
  NodeId Node(int place, absl::Span<const NodeId> order);
  template <typename Id>
  std::vector<Id> Ids(const flatbuffers::Vector<int32_t>* from);
  // False, with a fault, if the elements are not aligned for their type: the
  // verifier of FlatBuffers 2.0 checks only the vector's length, which has 4
  // bytes. Such a vector must not be read.
  template <typename T>
  bool Aligned(const flatbuffers::Vector<T>& from);
  // Calls unpack(const T&) until there is a fault.
  template <typename T, typename Fn>
  void ForEach(const Tables<T>* from, Fn unpack);

 private:
  absl::Status status_;
  int64_t budget_;
};

ContentHash HashOf(const fb::Hash* from);

template <typename Id>
std::vector<Id> MetadataReader::Ids(const flatbuffers::Vector<int32_t>* from) {
  std::vector<Id> ids;
  if (from == nullptr || !Spend(int64_t{4} * from->size())) return ids;
  ids.reserve(from->size());
  for (int32_t index : *from) ids.emplace_back(index);
  return ids;
}

template <typename T>
bool MetadataReader::Aligned(const flatbuffers::Vector<T>& from) {
  using Element = std::remove_const_t<std::remove_pointer_t<T>>;
  const auto first = reinterpret_cast<uintptr_t>(from.Data());
  // An empty vector is stored wherever its length fits.
  if (from.size() == 0 || first % alignof(Element) == 0) return true;
  Fail("metadata",
       "found misaligned numbers of 8 bytes; the file is damaged: copy or "
       "compile it again");
  return false;
}

template <typename T, typename Fn>
void MetadataReader::ForEach(const Tables<T>* from, Fn unpack) {
  if (from == nullptr || !Spend(int64_t{4} * from->size())) return;
  for (const T* item : *from) {
    if (!ok()) return;
    unpack(*item);
  }
}

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_METADATA_READER_H_
