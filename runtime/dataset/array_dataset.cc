// Copies samples from arrays.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/array_dataset.h"

#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/dataset/idx.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/file_bytes.h"
#include "runtime/tensor_file/npy.h"
#include "runtime/tensor_file/npz.h"

namespace partita {
namespace {

TensorType SampleType(const TensorType& type) {
  return {type.dtype, Shape(type.dims.begin() + 1, type.dims.end()), {}};
}

std::vector<DatasetField> FieldsOf(const std::vector<FieldArray>& arrays) {
  std::vector<DatasetField> fields;
  for (const FieldArray& array : arrays) {
    fields.push_back({array.field, SampleType(array.values.type),
                      array.values.elements.source});
  }
  return fields;
}

class DatasetOfArrays final : public Dataset {
 public:
  explicit DatasetOfArrays(std::vector<FieldArray> arrays)
      : Dataset(FieldsOf(arrays), arrays[0].values.type.dims[0]),
        arrays_(std::move(arrays)) {}

  absl::Status CopySample(int64_t sample,
                          absl::Span<std::byte* const> to) const override {
    for (size_t i = 0; i < arrays_.size(); ++i) {
      const TensorType& type = fields()[i].type;
      const size_t size = static_cast<size_t>(type.num_bytes());
      if (size == 0) continue;
      std::memcpy(
          to[i], arrays_[i].values.elements.bytes.data() + sample * size, size);
      if (type.dtype != DType::kBool) continue;
      HostTensor copied = HostTensor::View(type, to[i]);
      NormalizeBools(copied);
    }
    return absl::OkStatus();
  }

 private:
  const std::vector<FieldArray> arrays_;
};

absl::Status OtherCount(const FieldArray& array, const FieldArray& other) {
  const auto count = [](const FieldArray& a) { return a.values.type.dims[0]; };
  return BadFile(array.values.elements.source,
                 absl::StrCat(count(array), " samples of ", array.field),
                 absl::StrCat(count(other), ", as of ", other.field, " in ",
                              other.values.elements.source),
                 "give files of one set");
}

// Reports an array without samples itself, not the arrays after it.
absl::Status CheckArray(const std::vector<FieldArray>& arrays, size_t i) {
  const FieldArray& array = arrays[i];
  const FieldArray& first = arrays[0];
  const std::string& source = array.values.elements.source;
  const TensorType& type = array.values.type;
  if (type.rank() == 0) {
    return BadFile(source, absl::StrCat(type.ToString(), " for ", array.field),
                   "an array with the samples along dimension 0");
  }
  for (size_t j = 0; j < i; ++j) {
    if (arrays[j].field != array.field) continue;
    return BadFile(source, absl::StrCat("field ", array.field, " twice"),
                   "every field once");
  }
  const int64_t expected = first.values.type.dims[0];
  if (type.dims[0] == expected) return absl::OkStatus();
  return expected == 0 ? OtherCount(first, array) : OtherCount(array, first);
}

}  // namespace

absl::StatusOr<SharedDataset> ArrayDataset(std::vector<FieldArray> arrays) {
  if (arrays.empty()) return BadFile("dataset", "no field", "one or more");
  for (size_t i = 0; i < arrays.size(); ++i) {
    PARTITA_RETURN_IF_ERROR(CheckArray(arrays, i));
  }
  return std::make_shared<const DatasetOfArrays>(std::move(arrays));
}

absl::StatusOr<FileTensor> OpenArray(const ArrayFile& file) {
  PARTITA_ASSIGN_OR_RETURN(FileBytes bytes, MapFile(file.path));
  const absl::string_view text(
      reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size());
  if (absl::StartsWith(text, "\x93NUMPY")) return OpenNpy(bytes);
  if (absl::StartsWith(text, "PK")) {
    PARTITA_ASSIGN_OR_RETURN(const NpzFile npz,
                             NpzFile::Open(std::move(bytes)));
    return npz.Array(file.array.empty() ? file.field : file.array);
  }
  if (absl::StartsWith(text, "\x1f\x8b") ||
      absl::StartsWith(text, absl::string_view("\0\0", 2))) {
    return OpenIdx(bytes);
  }
  return BadFile(file.path, "a file of another format",
                 "IDX (plain or gzip), .npy or .npz");
}

absl::StatusOr<SharedDataset> OpenArrays(absl::Span<const ArrayFile> files) {
  std::vector<FieldArray> arrays;
  for (const ArrayFile& file : files) {
    PARTITA_ASSIGN_OR_RETURN(FileTensor values, OpenArray(file));
    arrays.push_back({file.field, std::move(values)});
  }
  return ArrayDataset(std::move(arrays));
}

}  // namespace partita
