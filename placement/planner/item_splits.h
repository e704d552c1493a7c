// The ways to split each computing node over similar devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_ITEM_SPLITS_H_
#define PARTITA_PLACEMENT_PLANNER_ITEM_SPLITS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/op_view.h"
#include "graph/placement.h"
#include "placement/partition/sharded_placement.h"
#include "placement/planner/flow.h"
#include "placement/planner/placement_draft.h"

namespace partita {

// The first largest set of identical, mutually linked devices or, if no two are
// identical, of devices of one kind; ascending.
std::vector<MachineDeviceId> SplitDevices(const CostModel& costs);

// `node`, a view, split over the devices of a value so that it reads the value
// as its operand `operand` without a copy. Nothing if it cannot be.
std::optional<Placement> SplitByOperand(const OpView& node, int operand,
                                        const ShardedPlacement& value);

// The node, sharded along one factor of its dimension rule.
struct ItemSplit {
  std::vector<Sharding> operands;  // of the node, by operand
  std::vector<Sharding> results;   // by result; partial sums of a sum
  double seconds = 0;              // of the slowest rank
};

// For a set of devices. Thread safety: const calls may run in parallel.
class ItemSplits {
 public:
  // The request must outlive it.
  ItemSplits(const PlanRequest& request, const Flow& flow);

  // All splits are over these, ascending: SplitDevices.
  const std::vector<MachineDeviceId>& devices() const { return devices_; }
  int num_ranks() const { return static_cast<int>(devices_.size()); }
  // One for each factor that can be sharded, in the rule's order. Empty for
  // pinned items and where there are fewer than two devices. A split of a
  // constant of which only the hash is known is left out: lowering needs its
  // bytes.
  const std::vector<ItemSplit>& of(int item) const { return splits_[item]; }
  // The number of the item's split that shards its values as split `split` of
  // `other` does; -1 if it has none.
  int SplitLike(int item, int other, int split) const;
  // The number of the item's split that splits its first result along this
  // dimension; -1 if it has none.
  int Along(int item, int dim) const;

  // `node`, a view, split so that its operand (or its result)
  // is split like this. Nothing if it cannot be.
  std::optional<Placement> SplitByOperand(const OpView& node, int operand,
                                          const Sharding& sharding) const;
  std::optional<Placement> SplitByResult(const OpView& node, int result,
                                         const Sharding& sharding) const;

 private:
  // Without seconds.
  std::vector<ItemSplit> SplitsOf(const PlanRequest& request,
                                  const OpView& op) const;
  // Nodes of equal types; `first` has been priced, unless it is `node`.
  struct Priced {
    NodeId node;
    const std::vector<ItemSplit>& splits;
  };
  void Price(const PlanRequest& request, NodeId node, const Priced& first,
             std::vector<ItemSplit>& splits) const;

  std::vector<MachineDeviceId> devices_;
  absl::InlinedVector<std::string, 1> names_;  // of devices_
  std::vector<std::vector<ItemSplit>> splits_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_ITEM_SPLITS_H_
