// Lists the tasks of nodes that move values between devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_COPY_TASKS_H_
#define PARTITA_PLACEMENT_LOWER_COPY_TASKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/op_view.h"
#include "placement/lower/collectives.h"
#include "placement/lower/plan_draft.h"
#include "placement/lower/result_storages.h"
#include "placement/machine/link_table.h"
#include "placement/machine/machine.h"

namespace partita {

// Needs: the operands have storages.
class CopyTasks {
 public:
  // All arguments must outlive this.
  CopyTasks(PlanDraft& draft, ResultStorages& storages, const Machine& machine)
      : draft_(draft), storages_(storages), links_(machine) {}

  // Lists a `copy` in one micro-batch: one collective, or a transfer of each
  // range that a device lacks. A shard that is part of one on its own device
  // becomes a view. FailedPrecondition if a link is missing.
  absl::Status ListCopy(const OpView& op, MicroBatchId micro_batch);
  // Lists the collective that reduces or gathers the operands of `op` on their
  // own devices.
  absl::Status ListReduceOrGather(const OpView& op, MicroBatchId micro_batch);

 private:
  absl::Status CheckReduceOrGather(const OpView& op, int value) const;
  StreamKey StreamOfReduction(const std::string& device) const;
  absl::StatusOr<Task> RankOfReduceOrGather(const OpView& op, int rank,
                                            MicroBatchId micro_batch);
  void ListCollective(const OpView& op,
                      const std::vector<CollectiveRank>& participants,
                      MicroBatchId micro_batch);
  bool IsViewOfLocalShard(const OpView& op, ShardId to);
  absl::StatusOr<std::vector<ShardId>> SourcesOf(const OpView& op,
                                                 const Shard& to) const;
  absl::Status ListTransfers(const OpView& op, ShardId to);

  PlanDraft& draft_;
  ResultStorages& storages_;
  const LinkTable links_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_COPY_TASKS_H_
