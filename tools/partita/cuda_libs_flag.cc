// Reads --cuda-libs.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/cuda_libs_flag.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "third_party/cuda_search/library_path.h"

namespace partita {

absl::Status UseCudaLibsFlag(const Arguments& arguments) {
  if (!arguments.has(kCudaLibsFlag.name)) return absl::OkStatus();
  absl::StatusOr<CudaSearchPath> folders =
      ParseCudaFolders(arguments.Get(kCudaLibsFlag.name, ""));
  if (!folders.ok()) {
    return CalledWrongly(absl::StrCat("--", kCudaLibsFlag.name, ": ",
                                      folders.status().message()));
  }
  SetProcessCudaFolders(*std::move(folders));
  return absl::OkStatus();
}

}  // namespace partita
