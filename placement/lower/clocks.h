// Happens-before in a launch order (vector clocks): the one implementation for
// lowering and for bounds on plans. The checker has its own.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_CLOCKS_H_
#define PARTITA_PLACEMENT_LOWER_CLOCKS_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "graph/op_view.h"
#include "placement/lower/count_rows.h"

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

// Tasks are commands of any kind except records and waits, numbered in launch
// order. Task `a` has ended before task `b` starts if and only if `b` knows the
// position of `a` in the stream of `a`. A collective has one task per rank. A
// rank ends only after its senders have started, so tasks after it know what
// its senders knew at their start.
class Clocks {
 public:
  explicit Clocks(size_t num_streams);

  // Adds the next task. It starts after all tasks of `dependencies`, ascending.
  // It waits for one in another stream only if no earlier wait or task of its
  // stream implies it, so no wait is redundant.
  void Start(int stream, absl::Span<const int> dependencies);
  // Ends the collective of the last ranks.size() tasks, one per rank.
  void EndCollective(absl::Span<const RankTransfer> ranks);

  bool Before(int a, int b) const {
    return Known(b, streams_[a]) >= positions_[a];
  }
  // The number of tasks of `stream` that have ended before `task` starts.
  int Known(int task, int stream) const {
    return stream == streams_[task] ? positions_[task] - 1
                                    : rows_.At(starts_[task], stream);
  }
  int num_tasks() const { return static_cast<int>(streams_.size()); }
  int stream(int task) const { return streams_[task]; }
  // The position in its stream, counted from 1.
  int position(int task) const { return positions_[task]; }
  // By task: the tasks whose events it waits for, latest first.
  const std::vector<std::vector<int>>& waits() const { return waits_; }

 private:
  std::vector<int> streams_;
  std::vector<int> positions_;
  std::vector<std::vector<int>> waits_;
  // A row does not count the stream that it belongs to: `positions_` does.
  CountRows rows_;
  std::vector<int> starts_;  // by task: a row
  std::vector<int> ends_;   // by task: differs from starts_ only in collectives
  std::vector<int> now_;    // by stream: the row of its next task
  std::vector<int> count_;  // by stream: number of tasks so far
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_CLOCKS_H_
