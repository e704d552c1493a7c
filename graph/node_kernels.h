// The kernels of a node on its devices, and their seconds: what the choice of
// kernels, planners and predictions all ask, so that they agree.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_NODE_KERNELS_H_
#define PARTITA_GRAPH_NODE_KERNELS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"

namespace partita {

// What one rank of a node's device set computes, and its device.
struct NodeRank {
  std::unique_ptr<Graph> shard;  // null: the node itself
  OpView op;
  const DeviceTraits* device;
};

// The ranks of the node under `placement`, in micro-batch kTypicalMicroBatch.
// `devices` are those of the placement; a node without a placement is whole on
// one device. Unimplemented if the node has no such shard.
absl::StatusOr<std::vector<NodeRank>> RanksOf(
    const OpView& node, const Placement& placement,
    absl::Span<const DeviceTraits* const> devices);

// The kernels that every rank has for its shard, in the same layouts, with the
// largest workspace, the in-place pairs that all allow and all different
// arithmetics. If several ranks compute replicas of a value, their arithmetics
// must be equal, as each device updates its own variables. Best first on the
// first rank; there is at least one rank.
std::vector<KernelChoice> CommonChoices(const Placement& placement,
                                        const std::vector<NodeRank>& ranks,
                                        const KernelCatalog& catalog);

// The choice with the least seconds, the first of equals; null if there is
// none. Ignores the cost of reorders, which depends on other nodes.
const KernelChoice* FastestChoice(absl::Span<const KernelChoice> choices);

// The choice that the node is bound to: the one with its kernel and its
// layouts, else the first with its kernel, else the fastest; null if there is
// no choice.
const KernelChoice* BoundChoice(const OpView& node,
                                absl::Span<const KernelChoice> choices);

// True for a fused node that no kernel computes whole on the devices of these
// choices: the nodes of its body replace it.
bool IsUnfused(const OpView& node, absl::Span<const KernelChoice> choices);

// True if a device of one of the classes (of those that the node is pinned to,
// if it is) has a kernel for the fused node. Fusions ask this
// (passes/pass_context.h), so a node is unfused only on another device, as a
// shard, or if a user wrote it.
bool RunsFused(const OpView& fused, const KernelCatalog& catalog,
               absl::Span<const DeviceClass> classes);

// True if the nodes of such a body after the first become one fused node, as
// after a convolution or matmul: one generated loop computes them. Other nodes
// must not read values between them.
bool TailIsOneLoop(const OpView& fused);

// What replaces such a node. The graph of the fused node must outlive it.
struct UnfusedBody {
  std::vector<OpView> nodes;
  std::unique_ptr<Graph> tail;  // the graph of a fused tail, if there is one
};
// `tail_is_one_loop` is TailIsOneLoop of the node; a shard of the node, alone
// in a graph, has no readers to ask for.
absl::StatusOr<UnfusedBody> Unfuse(const OpView& fused, bool tail_is_one_loop);

}  // namespace partita

#endif  // PARTITA_GRAPH_NODE_KERNELS_H_
