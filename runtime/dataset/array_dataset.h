// Datasets of whole arrays: one for each field, with the samples along
// dimension 0.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_ARRAY_DATASET_H_
#define PARTITA_RUNTIME_DATASET_ARRAY_DATASET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/dataset/dataset.h"
#include "runtime/tensor_file/file_bytes.h"

namespace partita {

struct FieldArray {
  std::string field;
  FileTensor values;
};

// InvalidArgument if the arrays have different numbers of samples, one is a
// scalar, or two have the same name. Copied bools become 0 or 1.
absl::StatusOr<SharedDataset> ArrayDataset(std::vector<FieldArray> arrays);

// The file with a field's array.
struct ArrayFile {
  std::string field;
  std::string path;
  std::string array;  // name in a .npz file; empty: that of `field`
};

// Opens an IDX file (plain or gzip), .npy or .npz, recognised by its first
// bytes. Uncompressed data stays in the file, which is mapped.
absl::StatusOr<FileTensor> OpenArray(const ArrayFile& file);
absl::StatusOr<SharedDataset> OpenArrays(absl::Span<const ArrayFile> files);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_ARRAY_DATASET_H_
