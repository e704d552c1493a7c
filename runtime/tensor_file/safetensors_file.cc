// Finds the tensors of a file and compares them with the expected ones.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/safetensors_file.h"

#include <algorithm>
#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/safetensors_header.h"

namespace partita {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxFaults = 20;

absl::StatusOr<size_t> HeaderLength(const FileBytes& file) {
  const size_t size = file.bytes.size();
  if (size < kLengthBytes) {
    return BadFile(file.source, absl::StrCat(size, " bytes"),
                   "a safetensors file",
                   "the file was cut short; take a whole one");
  }
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::to_integer<uint64_t>(file.bytes[i]) << (8 * i);
  }
  if (length > kMaxSafetensorsHeader) {
    return BadFile(file.source, absl::StrCat("a header of ", length, " bytes"),
                   absl::StrCat("at most ", kMaxSafetensorsHeader),
                   "it is not a safetensors file, or is damaged");
  }
  if (length > size - kLengthBytes) {
    return BadFile(file.source, absl::StrCat(size, " bytes"),
                   absl::StrCat(kLengthBytes + length, " for its header"),
                   "the file was cut short; take a whole one");
  }
  return static_cast<size_t>(length);
}

// Sorted tensors must be contiguous from 0 to `size`.
absl::Status CheckPacked(const std::vector<SafetensorsHeader::Tensor>& tensors,
                         int64_t size, absl::string_view source) {
  int64_t end = 0;
  for (const SafetensorsHeader::Tensor& tensor : tensors) {
    if (tensor.begin != end) {
      return BadFile(absl::StrCat(source, ": tensor ", tensor.name),
                     absl::StrCat("its first byte at ", tensor.begin),
                     absl::StrCat(end, ", the end of the tensor before it"),
                     tensor.begin < end
                         ? "tensors must not overlap"
                         : "the format allows no bytes between tensors");
    }
    end = tensor.end;
  }
  if (end == size) return absl::OkStatus();
  return BadFile(source, absl::StrCat(size, " bytes of tensors"),
                 absl::StrCat(end, ", as the header says"),
                 end > size ? "the file was cut short; take a whole one"
                            : "the format allows no bytes after the tensors");
}

}  // namespace

absl::StatusOr<SafetensorsFile> SafetensorsFile::Parse(FileBytes file) {
  PARTITA_ASSIGN_OR_RETURN(const size_t length, HeaderLength(file));
  const absl::string_view json(
      reinterpret_cast<const char*>(file.bytes.data()) + kLengthBytes, length);
  PARTITA_ASSIGN_OR_RETURN(SafetensorsHeader header,
                           ParseSafetensorsHeader(json, file.source));
  std::vector<SafetensorsHeader::Tensor>& tensors = header.tensors;
  // Puts empty tensors before a tensor with the same begin.
  std::stable_sort(
      tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
      });
  const FileBytes data = file.From(kLengthBytes + length);
  PARTITA_RETURN_IF_ERROR(CheckPacked(
      tensors, static_cast<int64_t>(data.bytes.size()), file.source));
  SafetensorsFile opened;
  opened.source_ = file.source;
  opened.metadata_ = std::move(header.metadata);
  for (SafetensorsHeader::Tensor& tensor : tensors) {
    FileBytes elements = data.From(static_cast<size_t>(tensor.begin));
    elements.bytes = elements.bytes.first(tensor.end - tensor.begin);
    opened.by_name_[tensor.name] = static_cast<int>(opened.entries_.size());
    opened.entries_.push_back({std::move(tensor.name),
                               {std::move(tensor.type), std::move(elements)}});
  }
  return opened;
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(FileBytes file, MapFile(path));
  return Parse(std::move(file));
}

const FileTensor* SafetensorsFile::Find(absl::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second].tensor;
}

absl::Status SafetensorsFile::ExpectTensors(
    absl::Span<const std::pair<std::string, TensorType>> expected) const {
  std::vector<std::string> faults;
  absl::flat_hash_set<absl::string_view> wanted;
  for (const auto& [name, type] : expected) {
    wanted.insert(name);
    const FileTensor* tensor = Find(name);
    if (tensor != nullptr && tensor->type == type) continue;
    const std::string found =
        tensor == nullptr ? absl::StrCat("no tensor ", name)
                          : absl::StrCat(name, ": ", tensor->type.ToString());
    faults.push_back(
        absl::StrCat("found ", found, "; expected ", type.ToString()));
  }
  for (const Entry& entry : entries_) {
    if (wanted.contains(entry.name)) continue;
    faults.push_back(absl::StrCat("found ", entry.name, ": ",
                                  entry.tensor.type.ToString(),
                                  "; expected no tensor of this name"));
  }
  if (faults.empty()) return absl::OkStatus();
  const size_t count = faults.size();
  faults.resize(std::min(count, kMaxFaults));
  return absl::InvalidArgumentError(absl::StrCat(
      source_, ": holds other tensors than the model (", count,
      count == 1 ? " difference" : " differences",
      "); give the file of this model\n  ", absl::StrJoin(faults, "\n  ")));
}

}  // namespace partita
