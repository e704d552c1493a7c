// The commands that take time, while they run, and the bandwidth that transfers
// share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_ACTIVITIES_H_
#define PARTITA_PLACEMENT_SIMULATE_ACTIVITIES_H_

#include <cstdint>
#include <queue>
#include <vector>

#include "graph/id_vector.h"
#include "placement/cost/wire_sharers.h"
#include "placement/simulate/command_cost.h"
#include "runtime/plan/plan.h"

namespace partita {

// A command in one step. Times are in seconds since the first step began.
struct Activity {
  int step = 0;
  CommandId command;
  double fixed_end = 0;  // end; of a transfer, of its latency
  double bytes_left = 0;
};

// The activities that run: those with a known end in a heap, and the transfers
// that share bandwidth, whose ends change whenever one begins or ends, in a
// list. n activities cost O(n log n) and the transfers at each moment.
class Activities {
 public:
  // `costs` must outlive this. The time is 0.
  explicit Activities(const IdVector<CommandId, CommandCost>& costs)
      : costs_(costs) {}

  double now() const { return now_; }
  bool empty() const { return fixed_.empty() && flowing_.empty(); }
  void Add(const Activity& activity) { fixed_.push({activity, added_++}); }
  // Moves on to the next time at which an activity ends, or a transfer's
  // latency; returns the activities that have ended, in the order in which they
  // were added. Needs: not empty.
  std::vector<Activity> Advance();

 private:
  struct Running {
    Activity activity;
    int64_t number = 0;  // of those added
  };
  struct EndsLater {
    bool operator()(const Running& a, const Running& b) const {
      return a.activity.fixed_end > b.activity.fixed_end;
    }
  };

  Hop HopOf(const Running& transfer) const;
  // By index in flowing_, with the bandwidth as it is shared now.
  std::vector<double> EndsOfFlowing() const;
  void FlowUntil(double time, const std::vector<double>& ends,
                 std::vector<Running>& ended);
  void EndFixed(std::vector<Running>& ended);

  const IdVector<CommandId, CommandCost>& costs_;
  double now_ = 0;
  int64_t added_ = 0;
  std::priority_queue<Running, std::vector<Running>, EndsLater> fixed_;
  std::vector<Running> flowing_;  // transfers after their latency
  WireSharers sharers_;           // of flowing_
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_ACTIVITIES_H_
