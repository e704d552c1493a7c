// Step 4: which waits the launch order needs, and what each task then knows.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_CLOCKS_H_
#define PARTITA_PLACEMENT_LOWER_CLOCKS_H_

#include <vector>

#include "absl/types/span.h"
#include "placement/lower/count_rows.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Happens-before of tasks in launch order. Task a has ended before task b
// starts exactly if b knows of a's position in a's stream. What follows a part
// of a collective knows what the parts knew whose bytes reach it: it has ended
// after they had started.
class Clocks {
 public:
  // Chooses waits: each task waits for those of its dependencies in other
  // streams that nothing before it implies, so none can be left out.
  static Clocks Make(const PlanDraft& draft,
                     const std::vector<std::vector<int>>& dependencies);

  bool Before(int a, int b) const {
    return Known(b, streams_[a]) >= positions_[a];
  }
  // How many tasks of `stream` have ended before `task` starts.
  int Known(int task, int stream) const {
    return stream == streams_[task] ? positions_[task] - 1
                                    : rows_.At(starts_[task], stream);
  }
  int num_tasks() const { return static_cast<int>(streams_.size()); }
  int stream(int task) const { return streams_[task]; }
  // In the stream, counted from 1.
  int position(int task) const { return positions_[task]; }
  // By task, the tasks whose events it waits for, latest first.
  const std::vector<std::vector<int>>& waits() const { return waits_; }

 private:
  explicit Clocks(const PlanDraft& draft);
  // The next task: its waits, and what it knows.
  void Start(int task, int stream, absl::Span<const int> dependencies);
  // The parts of one collective, all of which have started.
  void EndParts(const PlanDraft& draft, int first, int end);

  std::vector<int> streams_;
  std::vector<int> positions_;
  std::vector<std::vector<int>> waits_;
  // Rows say nothing of the stream that they belong to: that is its position.
  CountRows rows_;
  std::vector<int> starts_;  // by task: a row
  std::vector<int> ends_;    // by task: more only of a part of a collective
  std::vector<int> now_;     // by stream: the row of its next task
  std::vector<int> count_;   // by stream: its tasks so far
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_CLOCKS_H_
