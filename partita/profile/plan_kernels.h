// The kernels that a plan binds, as profiles know them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_PLAN_KERNELS_H_
#define PARTITA_PARTITA_PROFILE_PLAN_KERNELS_H_

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/device_traits.h"
#include "graph/graph.h"
#include "graph/op_view.h"
#include "placement/machine/profile.h"
#include "runtime/plan/plan.h"

namespace partita {

// What one rank of a node computes.
struct PlanKernel {
  std::unique_ptr<Graph> shard;  // owns `op`; null: the plan's graph does
  OpView op;                     // with layouts and kernel
  DeviceTraits device;
  MeasuredNode node;  // without measurements
};

// Of one entry. The plan must outlive it.
class PlanKernels {
 public:
  // All kernels of nodes that the catalog of the device still offers: a plan of
  // another build may bind others. Rooflines are those of the catalog without a
  // profile; kernels whose roofline is about 0 are left out, as nothing can be
  // scaled by it.
  static absl::StatusOr<PlanKernels> Of(const Plan& plan, const Entry& entry);

  const std::vector<PlanKernel>& all() const { return all_; }
  std::vector<PlanKernel> Take() && { return std::move(all_); }
  // Of a kernel command of the entry; null if there is none.
  const PlanKernel* Find(const Instance& instance) const;

 private:
  std::vector<PlanKernel> all_;
  std::map<std::pair<NodeId, int>, size_t> by_node_and_rank_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_PLAN_KERNELS_H_
