// Devices' instruction sets in oneDNN's terms.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_ISA_H_
#define PARTITA_KERNELS_CPU_ONEDNN_ISA_H_

#include <string>

#include "absl/strings/string_view.h"

namespace partita {

// Limits oneDNN to the best of UsableIsas, and to nothing between two of them,
// such as AVX without AVX2, for which devices have no name. A plan for this
// host's best instruction set then has the kernels that this host binds. Resets
// the environment's other settings that change kernels (CPU_ISA_HINTS,
// DEFAULT_FPMATH_MODE). No effect after oneDNN's first use, so call it before.
void CapOnednn();

// The DeviceTraits::isa of this process's oneDNN kernels: that of CapOnednn, if
// oneDNN was not used before it. Empty if no device has that name.
absl::string_view IsaOfOnednn();

// The device's instruction set as a value of oneDNN's environment variable;
// empty if oneDNN has no name for it.
absl::string_view OnednnNameOf(absl::string_view isa);

// The instructions that determine the bits of oneDNN's results in this process,
// for arithmetics. Finer distinctions matter only for bf16.
absl::string_view InstructionsOf(bool of_bf16);

// "2.6.3"
std::string OnednnVersion();

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_ISA_H_
