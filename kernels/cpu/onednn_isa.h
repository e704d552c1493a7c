// The instruction sets of devices, in oneDNN's words.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_ISA_H_
#define PARTITA_KERNELS_CPU_ONEDNN_ISA_H_

#include <string>

#include "absl/strings/string_view.h"

namespace partita {

// Lets oneDNN use the best of UsableIsas and nothing between two of them, such
// as AVX without AVX2, which no device is called: a plan for this host's best
// instruction set has the kernels that this host binds. Its other settings of
// the environment that change kernels (CPU_ISA_HINTS, DEFAULT_FPMATH_MODE) go
// back to what they are where nobody set them. Without effect once
// oneDNN has used instructions, and so called before.
void CapOnednn();

// The DeviceTraits::isa that oneDNN's kernels of this process are made for:
// that of CapOnednn, where the process did not use oneDNN before. Empty if no
// device is called so.
absl::string_view IsaOfOnednn();

// What oneDNN's environment variable calls a device's instruction set; empty if
// it has no name for it.
absl::string_view OnednnNameOf(absl::string_view isa);

// The instructions that fix the bits of what oneDNN computes in this process,
// for arithmetics: finer ones count for bf16 only.
absl::string_view InstructionsOf(bool of_bf16);

// "2.6.3"
std::string OnednnVersion();

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_ISA_H_
