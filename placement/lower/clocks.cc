// Vector clocks over the streams of a draft.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/clocks.h"

#include <algorithm>

namespace partita {

// A later task never is before an earlier one, so going through a task's
// dependencies from the latest on, one wait may make earlier ones needless and
// never the other way round.
Clocks Clocks::Make(const PlanDraft& draft,
                    const std::vector<std::vector<int>>& dependencies) {
  Clocks clocks;
  const size_t num_tasks = draft.tasks.size();
  clocks.num_streams_ = draft.streams.size();
  clocks.known_.resize(num_tasks * clocks.num_streams_);
  clocks.waits_.resize(num_tasks);
  std::vector<std::vector<int>> now(clocks.num_streams_,
                                    std::vector<int>(clocks.num_streams_, 0));
  for (size_t task = 0; task < num_tasks; ++task) {
    const int stream = draft.tasks[task].stream;
    std::vector<int>& mine = now[stream];
    for (auto it = dependencies[task].rbegin(); it != dependencies[task].rend();
         ++it) {
      const int other = *it;
      const int other_stream = clocks.streams_[other];
      if (mine[other_stream] >= clocks.positions_[other]) continue;
      clocks.waits_[task].push_back(other);
      const absl::Span<const int> known = clocks.Known(other);
      for (size_t s = 0; s < mine.size(); ++s) {
        mine[s] = std::max(mine[s], known[s]);
      }
      mine[other_stream] = clocks.positions_[other];
    }
    std::copy(mine.begin(), mine.end(),
              clocks.known_.begin() + task * clocks.num_streams_);
    clocks.streams_.push_back(stream);
    clocks.positions_.push_back(++mine[stream]);
  }
  return clocks;
}

}  // namespace partita
