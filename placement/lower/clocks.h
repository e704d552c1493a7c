// Step 4: which waits the launch order needs, and what each task then knows.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_CLOCKS_H_
#define PARTITA_PLACEMENT_LOWER_CLOCKS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
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
  explicit Clocks(const PlanDraft& draft);
  // The next task: its waits, and what it knows.
  void Start(int task, int stream, absl::Span<const int> dependencies);
  // The parts of one collective, all of which have started.
  void EndParts(const PlanDraft& draft, int first, int end);

  size_t num_streams_ = 0;
  std::vector<int> streams_;
  std::vector<int> positions_;
  std::vector<int> known_;  // task by stream
  std::vector<std::vector<int>> waits_;
  std::vector<std::vector<int>> now_;  // by stream, what its next task knows
  // What is known once a part of a collective has ended.
  absl::flat_hash_map<int, std::vector<int>> after_part_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_CLOCKS_H_
