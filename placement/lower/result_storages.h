// Assigns storages to what nodes compute.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_RESULT_STORAGES_H_
#define PARTITA_PLACEMENT_LOWER_RESULT_STORAGES_H_

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "graph/graph.h"
#include "graph/op_view.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// The new value of a variable takes the variable's storage; every other result
// gets a storage of its own.
class ResultStorages {
 public:
  // `draft` must outlive this.
  explicit ResultStorages(PlanDraft& draft) : draft_(draft) {}

  // Finds the variable of every update. FailedPrecondition if the value of an
  // update is not copied to the devices of its variable.
  absl::Status FindUpdates();
  // True for the new value of a variable.
  bool IsUpdate(ValueId value) const { return variables_.contains(value); }

  // Assigns a storage to a result of `op`. FailedPrecondition for the new value
  // of a variable with other devices, sharding or layout than the variable.
  absl::Status Assign(const OpView& op, ShardId to);
  void AssignNew(ShardId shard);

 private:
  PlanDraft& draft_;
  // By value of an update: the node of the variable.
  absl::flat_hash_map<ValueId, NodeId> variables_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_RESULT_STORAGES_H_
