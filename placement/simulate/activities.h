// The commands that take time, while they run, and what they share: the
// bandwidth of links and the cores of the host.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_ACTIVITIES_H_
#define PARTITA_PLACEMENT_SIMULATE_ACTIVITIES_H_

#include <cstdint>
#include <queue>
#include <vector>

#include "graph/id_vector.h"
#include "placement/cost/host_cores.h"
#include "placement/cost/wire_sharers.h"
#include "placement/simulate/command_cost.h"
#include "runtime/plan/plan.h"

namespace partita {

// A command in one step. Times are in seconds since the first step began.
struct Activity {
  int step = 0;
  CommandId command;
  // The end, if nothing slows it down; of a transfer, that of its latency.
  double fixed_end = 0;
  double bytes_left = 0;
};

// The activities that run: those with a known end, and those on the host's
// cores, which slow each other down alike, in a heap each; and the transfers
// that share bandwidth, whose ends change whenever one begins or ends, in a
// list. n activities cost O(n log n) and the transfers at each moment.
class Activities {
 public:
  // `costs` must outlive this. The time is 0.
  explicit Activities(const IdVector<CommandId, CommandCost>& costs,
                      const HostCores& cores = {})
      : costs_(costs), cores_(cores) {}

  double now() const { return now_; }
  bool empty() const {
    return fixed_.empty() && working_.empty() && flowing_.empty();
  }
  void Add(const Activity& activity);
  // Moves on to the next time at which an activity ends, or a transfer's
  // latency; returns the activities that have ended, in the order in which they
  // were added. Needs: not empty.
  std::vector<Activity> Advance();

 private:
  struct Running {
    Activity activity;
    int64_t number = 0;   // of those added
    double work_end = 0;  // of those on cores: when worked_ has grown to this
  };
  struct EndsLater {
    bool operator()(const Running& a, const Running& b) const {
      return a.activity.fixed_end > b.activity.fixed_end;
    }
  };
  struct WorksLonger {
    bool operator()(const Running& a, const Running& b) const {
      return a.work_end > b.work_end;
    }
  };

  const CommandCost& CostOf(const Running& running) const {
    return costs_[running.activity.command];
  }
  Hop HopOf(const Running& transfer) const;
  // Work that is done in a second.
  double Speed() const { return 1 / cores_.Slowdown(busy_cores_); }
  // By index in flowing_, with bandwidth and cores as they are shared now.
  std::vector<double> EndsOfFlowing() const;
  // Of the first on the cores; infinite: none.
  double EndOfWork() const;
  void FlowUntil(double time, const std::vector<double>& ends,
                 std::vector<Running>& ended);
  // Ends what has a known end, or lets a transfer flow after its latency.
  void EndFixed(std::vector<Running>& ended);
  void EndWork(std::vector<Running>& ended);
  void FlowOrEnd(const Running& running, std::vector<Running>& ended);
  void End(const Running& running, std::vector<Running>& ended);

  const IdVector<CommandId, CommandCost>& costs_;
  const HostCores cores_;
  double now_ = 0;
  int64_t added_ = 0;
  std::priority_queue<Running, std::vector<Running>, EndsLater> fixed_;
  std::priority_queue<Running, std::vector<Running>, WorksLonger> working_;
  std::vector<Running> flowing_;  // transfers after their latency
  WireSharers sharers_;           // of flowing_
  int busy_cores_ = 0;            // that all activities ask for
  double worked_ = 0;             // seconds of work of any activity on cores
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_ACTIVITIES_H_
