// Chooses the kernel of each node, and the layouts of values.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_BINDING_CHOOSE_KERNELS_H_
#define PARTITA_BINDING_CHOOSE_KERNELS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "binding/layout_state.h"
#include "graph/device_traits.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"

namespace partita {

// The price of a bound node, for predictions and the compile summary.
struct PricedNode {
  NodeId node;
  double seconds = 0;  // of the slowest rank
  bool fallback = false;
  std::optional<CacheSeconds> by_caches;  // KernelChoice::by_caches
};

// Binds every placed node to the fastest kernel on its device, including the
// cost of reorders, and writes layouts on values.
//
//   before                            after
//   %c = conv %x, %w   on gpu:0       %p = reorder %x {layout = "abcd16b"}
//                                     %c = conv %p, %w.packed  by onednn.conv
//
// Needs: a placed graph of row-major values, including `copy` nodes. Leaves:
// every node bound, except `constant`, `variable`, `copy` and ops that only
// rename the bytes of their operand; outputs and updates row-major; constants
// packed in the layouts of their readers.
// A node on several devices has one binding: a kernel that every rank has for
// its shard, in the same layouts, with the largest workspace. Shards may be
// uneven and devices different; `arithmetics` lists all different ones. Without
// a common kernel the node counts as missing. Copies that change a value's
// sharding move row-major values. A fused node that was fused for another
// device, or whole, and that only the fallback could compute here is inlined
// first. `packed` stores constants in the layouts of
// kernels, for the next graph over the same constants. Unimplemented, naming
// all such nodes, if a device has no kernel for a node.
absl::StatusOr<std::vector<PricedNode>> ChooseKernels(
    Graph& graph, const KernelCatalog& catalog,
    absl::Span<const DeviceTraits> devices, PackedConstants& packed);

}  // namespace partita

#endif  // PARTITA_BINDING_CHOOSE_KERNELS_H_
