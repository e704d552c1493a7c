// Programs as PTX text for NVIDIA GPUs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_PTX_H_
#define PARTITA_KERNELS_CODEGEN_PTX_H_

#include <string>
#include <vector>

#include "kernels/codegen/any_program.h"

namespace partita {

// One kernel for each program, with its name. The text depends on its input
// only. `target` is sm_80 or sm_90; later architectures take either. Returns
// false and sets `error` if LLVM refuses: a bug, or an unknown target.
bool CompilePtx(const std::vector<AnyProgram>& programs,
                const std::string& target, std::string& ptx,
                std::string& error);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_PTX_H_
