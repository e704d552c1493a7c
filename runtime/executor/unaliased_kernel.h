// Adapts a kernel that cannot work in place to a plan that works in place.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_UNALIASED_KERNEL_H_
#define PARTITA_RUNTIME_EXECUTOR_UNALIASED_KERNEL_H_

#include <memory>

#include "absl/types/span.h"
#include "graph/op_view.h"
#include "graph/placement.h"
#include "kernels/kernel.h"

namespace partita {

// Returns a kernel that copies the operands whose bytes a result takes over
// according to `in_place`, and then launches `kernel` on the copies. The copies
// are in its own memory, outside every arena.
std::unique_ptr<BoundKernel> UnaliasOperands(
    std::unique_ptr<BoundKernel> kernel, const OpView& node,
    absl::Span<const InPlacePair> in_place);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_UNALIASED_KERNEL_H_
