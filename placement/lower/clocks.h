// Step 4: which waits the launch order needs, and what each task then knows.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_CLOCKS_H_
#define PARTITA_PLACEMENT_LOWER_CLOCKS_H_

#include <vector>

#include "absl/types/span.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Happens-before of tasks in launch order. Task a has ended before task b
// starts exactly if b knows of a's position in a's stream.
class Clocks {
 public:
  // Chooses waits: each task waits for those of its dependencies in other
  // streams that nothing before it implies, so none can be left out.
  static Clocks Make(const PlanDraft& draft,
                     const std::vector<std::vector<int>>& dependencies);

  bool Before(int a, int b) const {
    return Known(b)[streams_[a]] >= positions_[a];
  }
  // By stream, how many of its tasks have ended before `task` starts.
  absl::Span<const int> Known(int task) const {
    return absl::MakeConstSpan(known_).subspan(
        static_cast<size_t>(task) * num_streams_, num_streams_);
  }
  int stream(int task) const { return streams_[task]; }
  // In the stream, counted from 1.
  int position(int task) const { return positions_[task]; }
  int num_streams() const { return static_cast<int>(num_streams_); }
  // By task, the tasks whose events it waits for, latest first.
  const std::vector<std::vector<int>>& waits() const { return waits_; }

 private:
  size_t num_streams_ = 0;
  std::vector<int> streams_;
  std::vector<int> positions_;
  std::vector<int> known_;  // task by stream
  std::vector<std::vector<int>> waits_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_CLOCKS_H_
