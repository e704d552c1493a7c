// Strategy `list`: earliest finish time within memory.
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/status_macros.h"
#include "placement/planner/first_fit.h"
#include "placement/planner/list_schedule.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

// The order of the graph as a priority: fewer values are live in it.
std::vector<double> GraphOrder(const Flow& flow) {
  std::vector<double> priority;
  for (size_t i = 0; i < flow.items.size(); ++i) priority.push_back(-1.0 * i);
  return priority;
}

// Gives the reason why one device alone was taken.
void Explain(const Flow& flow, MachineDeviceId device, double saved,
             Draft& draft) {
  for (const FlowItem& item : flow.items) {
    PlacedNode& why = draft.why[item.node];
    if (draft.assignment[item.node].devices[0] != device) {
      continue;  // the device has no kernel for it
    }
    if (why.reason == Reason::kPinned) continue;
    why.reason = Reason::kCheaperBy;
    why.seconds = saved;
  }
}

// 4. One device alone, if that finishes sooner than `together` and fits.
absl::StatusOr<std::optional<Draft>> TryEachDevice(
    const PlanRequest& request, const Flow& flow,
    const std::vector<double>& ranks, double together) {
  std::vector<ListSchedule> sooner;
  for (MachineDeviceId device : request.costs.devices()) {
    ListSchedule alone =
        ScheduleList(request, flow, {{device}, request.limits(), ranks});
    if (alone.makespan >= together) continue;
    Explain(flow, device, together - alone.makespan, alone.draft);
    sooner.push_back(std::move(alone));
  }
  absl::c_stable_sort(sooner, [](const ListSchedule& a, const ListSchedule& b) {
    return a.makespan < b.makespan;
  });
  FirstFit choice(request);
  for (ListSchedule& alone : sooner) {
    const bool fits = choice.Offer(std::move(alone.draft));
    if (fits) return choice.Take();
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<Draft> DraftList(const PlanRequest& request) {
  const Flow flow(request.costs);
  const std::vector<double> ranks = UpwardRanks(request, flow);
  const std::vector<MachineDeviceId> devices = LinkedDevices(request.costs);
  FirstFit choice(request);
  for (const std::vector<double>& priority : {ranks, GraphOrder(flow)}) {
    ListSchedule schedule =
        ScheduleList(request, flow, {devices, request.limits(), priority});
    const bool fits = choice.Offer(std::move(schedule.draft));
    if (!fits) continue;
    PARTITA_ASSIGN_OR_RETURN(
        std::optional<Draft> alone,
        TryEachDevice(request, flow, ranks, schedule.makespan));
    if (alone.has_value()) return *std::move(alone);
    break;
  }
  return choice.Take();
}

}  // namespace partita
