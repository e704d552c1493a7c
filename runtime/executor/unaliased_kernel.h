// A kernel that cannot work in place, where the plan wants one that can.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_UNALIASED_KERNEL_H_
#define PARTITA_RUNTIME_EXECUTOR_UNALIASED_KERNEL_H_

#include <memory>

#include "absl/types/span.h"
#include "graph/op_view.h"
#include "graph/placement.h"
#include "kernels/kernel.h"

namespace partita {

// A kernel that copies those operands of `node` that `in_place` lets a result
// take over and that lie there, and then launches `kernel` on the copies. The
// room for them is its own, outside every arena.
std::unique_ptr<BoundKernel> UnaliasOperands(
    std::unique_ptr<BoundKernel> kernel, const OpView& node,
    absl::Span<const InPlacePair> in_place);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_UNALIASED_KERNEL_H_
