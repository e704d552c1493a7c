// Where NVIDIA's libraries are: --cuda-libs, of each command that opens a GPU.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_CUDA_LIBS_FLAG_H_
#define PARTITA_TOOLS_PARTITA_CUDA_LIBS_FLAG_H_

#include "absl/status/status.h"
#include "partita/options/arguments.h"

namespace partita {

inline constexpr FlagDef kCudaLibsFlag = {
    "cuda-libs", "FOLDER[:FOLDER...]",
    "look for NVIDIA's libraries there first, then in CUDA_HOME, in Python's "
    "packages and where the system does"};

// Makes them this process's folders. CalledWrongly if one is empty, relative,
// or no folder.
absl::Status UseCudaLibsFlag(const Arguments& arguments);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_CUDA_LIBS_FLAG_H_
