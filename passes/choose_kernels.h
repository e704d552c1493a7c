// Chooses what computes each node, and in which layouts.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_CHOOSE_KERNELS_H_
#define PARTITA_PASSES_CHOOSE_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/device_traits.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "passes/layout_state.h"

namespace partita {

// What a node was bound to, for predictions and the compile summary.
struct ChosenKernel {
  NodeId node;
  double seconds = 0;  // of one member, the slowest
  bool fallback = false;
};

// Binds every placed node to the kernel that is fastest there, the reorders
// that its layouts cost included, and writes layouts on values.
//
//   before                            after
//   %c = conv %x, %w   on gpu:0       %p = reorder %x {layout = "abcd16b"}
//                                     %c = conv %p, %w.packed  by onednn.conv
//
// Needs: a placed graph of row-major values, `copy` nodes included. Leaves:
// every node bound but `constant`, `variable`, `copy` and ops that only rename
// the bytes of their operand; outputs and updates row-major; constants packed
// as their reader wants them.
// A node over several devices has one binding: a kernel that every member has
// for its own part of the types (uneven parts and unlike devices included), in
// the same layouts, with the largest of the workspaces; its `arithmetic` lists
// those that differ. Where the members have none in common it counts as
// missing. Copies that divide or join a value move row-major ones.
// A fused node that only the fallback could compute is inlined first.
// `packed` keeps constants in the layouts that kernels want, for the next graph
// over the same constants. Unimplemented, naming all such nodes, if
// a device has no kernel for a node.
absl::StatusOr<std::vector<ChosenKernel>> ChooseKernels(
    Graph& graph, const KernelCatalog& catalog,
    absl::Span<const DeviceTraits> devices, PackedConstants& packed);

}  // namespace partita

#endif  // PARTITA_PASSES_CHOOSE_KERNELS_H_
