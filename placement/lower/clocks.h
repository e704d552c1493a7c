// Happens-before in a launch order (vector clocks): the one implementation for
// lowering and for bounds on plans. The checker has its own.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_CLOCKS_H_
#define PARTITA_PLACEMENT_LOWER_CLOCKS_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "graph/id_vector.h"
#include "graph/op_view.h"
#include "placement/lower/count_rows.h"
#include "placement/lower/ids.h"
#include "runtime/plan/plan.h"

namespace partita {

// How the bytes of one rank of a collective move: the ranks that give as group
// `g` reach those that take as `g`. -1: the rank moves no bytes that way.
struct RankTransfer {
  int gives = -1;
  int takes = -1;
};

// By rank. In a permute each shard is a group; in other collectives all ranks
// are one.
std::vector<RankTransfer> RanksOfCollective(const OpView& node);

// Tasks are numbered in launch order. Task `a` has ended before task `b` starts
// if and only if `b` knows the position of `a` in the stream of `a`. A
// collective has one task per rank. A rank ends only after its senders have
// started, so tasks after it know what its senders knew at their start.
class Clocks {
 public:
  explicit Clocks(size_t num_streams);

  // Adds the next task. It starts after all tasks of `dependencies`, ascending.
  // It waits for one in another stream only if no earlier wait or task of its
  // stream implies it, so no wait is redundant.
  TaskId Start(StreamId stream, absl::Span<const TaskId> dependencies);
  // Ends the collective of the last ranks.size() tasks, one per rank.
  void EndCollective(absl::Span<const RankTransfer> ranks);

  bool Before(TaskId a, TaskId b) const {
    return Known(b, streams_[a]) >= positions_[a];
  }
  // The number of tasks of `stream` that have ended before `task` starts.
  int Known(TaskId task, StreamId stream) const {
    return stream == streams_[task] ? positions_[task] - 1
                                    : rows_.At(starts_[task], stream);
  }
  size_t num_streams() const { return tasks_of_.size(); }
  // In launch order.
  absl::Span<const TaskId> tasks_of(StreamId stream) const {
    return tasks_of_[stream];
  }
  StreamId stream(TaskId task) const { return streams_[task]; }
  // The position in its stream, counted from 1.
  int position(TaskId task) const { return positions_[task]; }
  // The tasks whose events each task waits for, latest first.
  const IdVector<TaskId, std::vector<TaskId>>& waits() const { return waits_; }

 private:
  IdVector<TaskId, StreamId> streams_;
  IdVector<TaskId, int> positions_;
  IdVector<TaskId, std::vector<TaskId>> waits_;
  // A row does not count the stream that it belongs to: `positions_` does.
  CountRows rows_;
  IdVector<TaskId, CountRowId> starts_;
  IdVector<TaskId, CountRowId> ends_;   // differs only in collectives
  IdVector<StreamId, CountRowId> now_;  // of the next task
  IdVector<StreamId, std::vector<TaskId>> tasks_of_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_CLOCKS_H_
