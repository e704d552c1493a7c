// Where the headers of CUDA are missing, there is no software GPU.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/emulated_gpus.h"

namespace partita {

absl::StatusOr<std::unique_ptr<GpuEmulation>> EmulateGpusOf(const Plan& plan,
                                                            GpuSplit split) {
  return absl::UnimplementedError(
      "--emulated-gpus: found a build without the headers of CUDA; expected "
      "one with them; in the source tree run tools/fetch_cuda_header and bazel "
      "shutdown, and build anew");
}

}  // namespace partita
