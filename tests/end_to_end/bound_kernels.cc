// Binds every node as a session does.
// SPDX-License-Identifier: Apache-2.0

#include "tests/end_to_end/bound_kernels.h"

#include <memory>

#include "absl/algorithm/container.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "kernels/catalog/host_kernels.h"
#include "kernels/cpu/onednn_recipe.h"
#include "runtime/executor/kernel_binder.h"

namespace partita {
namespace {

absl::Status AddBound(const Plan& plan, const OpView& node, int rank,
                      std::vector<BoundNode>& bound) {
  const std::string& name = node.node().placement.devices[rank];
  const auto device =
      absl::c_find_if(plan.devices, [&](const PlanDevice& candidate) {
        return candidate.traits.name == name;
      });
  std::unique_ptr<Graph> shard;
  OpView op = node;
  if (HasOwnShards(node)) {
    PARTITA_ASSIGN_OR_RETURN(shard,
                             ShardOfNode(node, rank, kTypicalMicroBatch));
    op = shard->ops().front();
  }
  PARTITA_ASSIGN_OR_RETURN(
      BoundKernel kernel,
      BindKernel({op, &*node.node().kernel, &device->traits}, HostLibraries(),
                 /*any_host_kernel=*/true));
  bound.push_back({node.ToString(), node.result_type(0).num_elements(), name,
                   std::move(kernel.id), std::move(kernel.arithmetic)});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<BoundNode>> KernelsOnVirtualDevices(
    const Plan& plan) {
  std::vector<BoundNode> bound;
  for (const Entry& entry : plan.entries) {
    for (const OpView& node : entry.graph->ops()) {
      if (!node.node().kernel.has_value()) continue;
      const size_t ranks = node.node().placement.devices.size();
      for (size_t m = 0; m < ranks; ++m) {
        PARTITA_RETURN_IF_ERROR(
            AddBound(plan, node, static_cast<int>(m), bound));
      }
    }
  }
  return bound;
}

bool IsSlow(const BoundNode& node) {
  return node.kernel == "reference.eval" || IsReferenceLoop(node.arithmetic);
}

}  // namespace partita
