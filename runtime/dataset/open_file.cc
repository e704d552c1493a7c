// Opens a file for its samples.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/open_file.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace partita {

absl::StatusOr<FileBytes> OpenFile(const std::string& path) {
  absl::StatusOr<FileBytes> file = MapFile(path);
  if (!absl::IsNotFound(file.status())) return file;
  return absl::NotFoundError(absl::StrCat(
      file.status().message(),
      "; expected a file that can be read; correct its name or its rights"));
}

}  // namespace partita
