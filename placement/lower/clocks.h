// Step 4: waits between streams, and what each task knows (vector clocks).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_CLOCKS_H_
#define PARTITA_PLACEMENT_LOWER_CLOCKS_H_

#include <vector>

#include "absl/types/span.h"
#include "placement/lower/count_rows.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Happens-before of tasks in launch order. Task `a` has ended before task `b`
// starts if and only if `b` knows the position of `a` in the stream of `a`. A
// collective has one task per rank. A rank ends only after its senders have
// started, so tasks after it know what its senders knew at their start.
class Clocks {
 public:
  // Chooses the waits. A task waits for a dependency in another stream only if
  // no earlier wait or task of its stream implies it, so no wait is redundant.
  static Clocks Make(const PlanDraft& draft,
                     const std::vector<std::vector<int>>& dependencies);

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
  explicit Clocks(const PlanDraft& draft);
  // Adds the next task: its waits and what it knows.
  void Start(int task, int stream, absl::Span<const int> dependencies);
  // Updates what the ranks of one collective know at its end. All their tasks,
  // [first, end), have started.
  void EndCollective(const PlanDraft& draft, int first, int end);

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
