// The files of a dataset.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_OPEN_FILE_H_
#define PARTITA_RUNTIME_DATASET_OPEN_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/tensor_file/file_bytes.h"

namespace partita {

// MapFile, which says what to do about a file that cannot be opened.
absl::StatusOr<FileBytes> OpenFile(const std::string& path);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_OPEN_FILE_H_
