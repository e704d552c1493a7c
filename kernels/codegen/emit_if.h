// A branch over code that a condition guards, as LLVM IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_EMIT_IF_H_
#define PARTITA_KERNELS_CODEGEN_EMIT_IF_H_

#include <functional>

#include "llvm/IR/IRBuilder.h"

namespace partita {

// Calls `emit` at the builder's position, for code that runs only if
// `condition` is true; null is always true. Leaves the builder behind it.
void EmitIf(llvm::IRBuilder<>& ir, llvm::Value* condition,
            const std::function<void()>& emit);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_EMIT_IF_H_
