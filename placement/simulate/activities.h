// The commands that take time, while they run, and the bandwidth that transfers
// share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_ACTIVITIES_H_
#define PARTITA_PLACEMENT_SIMULATE_ACTIVITIES_H_

#include <vector>

#include "graph/id_vector.h"
#include "placement/simulate/command_cost.h"
#include "runtime/plan/plan.h"

namespace partita {

// A command in one step. Times are in seconds since the first step began.
struct Activity {
  int step = 0;
  CommandId command;
  double fixed_end = 0;  // end; of a transfer, of its latency
  bool flowing = false;  // a transfer after its latency
  double bytes_left = 0;
};

class Activities {
 public:
  // `costs` must outlive this. The time is 0.
  explicit Activities(const IdVector<CommandId, CommandCost>& costs)
      : costs_(costs) {}

  double now() const { return now_; }
  bool empty() const { return active_.empty(); }
  void Add(const Activity& activity) { active_.push_back(activity); }
  // Moves on to the next time at which an activity ends, or a transfer's
  // latency; returns the activities that have ended. Needs: not empty.
  std::vector<Activity> Advance();

 private:
  bool Share(const Activity& a, const Activity& b) const;
  double Rate(const Activity& transfer) const;
  double EndOf(const Activity& activity) const;

  const IdVector<CommandId, CommandCost>& costs_;
  double now_ = 0;
  std::vector<Activity> active_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_ACTIVITIES_H_
