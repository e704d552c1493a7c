// Which PTX a GPU takes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_GPU_PTX_TARGET_H_
#define PARTITA_KERNELS_GPU_PTX_TARGET_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace partita {

// The target of code objects for GPUs of an instruction set: the latest of
// sm_80 and sm_90 that is not later, as drivers compile PTX for later
// architectures. "sm_90a" and "sm_120" have sm_90; an empty one, which means
// any GPU, has sm_80. nullopt for earlier GPUs, and for what is no GPU's.
std::optional<std::string> PtxTarget(absl::string_view isa);

}  // namespace partita

#endif  // PARTITA_KERNELS_GPU_PTX_TARGET_H_
