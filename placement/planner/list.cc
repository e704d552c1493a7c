// Strategy `list`: earliest finish time within memory.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "graph/status_macros.h"
#include "placement/planner/list_schedule.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr int kMostRounds = 8;
constexpr int kMostVainRounds = 2;  // the shortage does not shrink in them

// The best schedule within memory, and the one with the smallest shortage.
struct Best {
  std::optional<ListSchedule> fits;
  std::optional<ListSchedule> short_of;
  Shortage shortage;
  absl::Status fault;  // the first schedule that needs a missing link
};

int64_t Missing(const Shortage& shortage) {
  return shortage.needed - shortage.limit;
}

// The order of the graph as a priority: what EstimateMemory assumes.
std::vector<double> GraphOrder(const Flow& flow) {
  std::vector<double> priority;
  for (size_t i = 0; i < flow.items.size(); ++i) priority.push_back(-1.0 * i);
  return priority;
}

// 2 and 3. Schedules in rounds. After each round the limit of the overfull
// device is lowered by the shortage. True if a schedule fits.
bool ScheduleWithin(const PlanRequest& request, const Flow& flow,
                    ListOptions options, Best& best) {
  options.limits = request.objective.memory_limits;
  int vain = 0;
  for (int round = 0; round < kMostRounds && vain < kMostVainRounds; ++round) {
    ListSchedule schedule = ScheduleList(request, flow, options);
    const absl::Status links = CheckLinks(request, schedule.draft);
    best.fault.Update(links);
    if (!links.ok()) return false;
    const std::optional<Shortage> shortage =
        FindShortage(request, schedule.draft);
    if (!shortage.has_value()) {
      if (!best.fits.has_value() || schedule.makespan < best.fits->makespan) {
        best.fits = std::move(schedule);
      }
      return true;
    }
    int64_t& limit = options.limits[shortage->device];
    limit = std::max<int64_t>(0, limit - Missing(*shortage));
    ++vain;
    if (!best.short_of.has_value() ||
        Missing(*shortage) < Missing(best.shortage)) {
      vain = 0;
      best.short_of = std::move(schedule);
      best.shortage = *shortage;
    }
  }
  return false;
}

// 4. Takes one device alone if that finishes sooner.
void TryEachDevice(const PlanRequest& request, const Flow& flow,
                   const std::vector<double>& ranks, Best& best) {
  const double together = best.fits->makespan;
  for (int device = 0; device < request.costs.num_devices(); ++device) {
    ListSchedule alone = ScheduleList(
        request, flow, {{device}, request.objective.memory_limits, ranks});
    if (alone.makespan >= best.fits->makespan) continue;
    if (!CheckLinks(request, alone.draft).ok()) continue;
    if (FindShortage(request, alone.draft).has_value()) continue;
    for (const FlowItem& item : flow.items) {
      PlacedNode& why = alone.draft.why[item.node.index];
      if (alone.draft.assignment[item.node.index].devices[0] != device) {
        continue;  // the device has no kernel for it
      }
      if (why.reason == Reason::kPinned) continue;
      why.reason = Reason::kCheaperBy;
      why.seconds = together - alone.makespan;
    }
    best.fits = std::move(alone);
  }
}

}  // namespace

absl::StatusOr<Draft> DraftList(const PlanRequest& request) {
  const Flow flow(request.costs);
  const std::vector<double> ranks = UpwardRanks(request, flow);
  const std::vector<int> devices = LinkedDevices(request.costs);
  Best best;
  const bool fits =
      ScheduleWithin(request, flow, {devices, {}, ranks}, best) ||
      // Fewer values are live in the graph's own order.
      ScheduleWithin(request, flow, {devices, {}, GraphOrder(flow)}, best);
  if (fits) {
    TryEachDevice(request, flow, ranks, best);
    return std::move(best.fits->draft);
  }
  if (!best.short_of.has_value()) return best.fault;
  return WithShortage(request, std::move(best.short_of->draft), best.shortage);
}

}  // namespace partita
