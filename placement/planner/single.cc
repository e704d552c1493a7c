// Strategy `single`: the whole graph on one device.
// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "placement/planner/first_fit.h"
#include "placement/planner/placement_draft.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

// 1. Devices that run every node that is not pinned.
absl::StatusOr<std::vector<MachineDeviceId>> Candidates(
    const PlanRequest& request) {
  const CostModel& costs = request.costs;
  std::vector<MachineDeviceId> devices;
  if (request.options.device.empty()) {
    devices = DevicesToChoose(request);
  } else {
    const MachineDeviceId device = costs.FindDevice(request.options.device);
    if (!device.valid()) {
      return OfOption(
          "device",
          absl::InvalidArgumentError(absl::StrCat(
              "device ", request.options.device,
              ": found no such device in this machine; expected one of ",
              costs.machine().DeviceNames())));
    }
    devices.push_back(device);
  }
  std::vector<MachineDeviceId> able;
  absl::Status fault;
  for (MachineDeviceId device : devices) {
    const absl::Status runs = CheckRunsAll(request, device);
    if (runs.ok()) able.push_back(device);
    fault.Update(runs);
  }
  if (able.empty()) return fault;
  return able;
}

// 2. Puts every node that is not pinned on `device`.
Draft Fill(const PlanRequest& request, MachineDeviceId device, Reason reason) {
  Draft draft(request.graph());
  PutPinned(request, draft);
  for (NodeId node : request.costs.order()) {
    if (!request.costs.computes(node) || request.pin(node) != nullptr) continue;
    Put(draft, node, device, {.reason = reason});
  }
  PutFollowers(request, draft);
  for (NodeId node : request.costs.order()) {
    if (draft.why[node].reason != Reason::kPinned) {
      draft.why[node].reason = reason;
    }
  }
  return draft;
}

double TotalSeconds(const PlanRequest& request, const Draft& draft) {
  double seconds = 0;
  for (NodeId node : request.costs.order()) {
    seconds += SecondsOf(request.costs, node, draft.assignment[node]);
  }
  return seconds;
}

}  // namespace

absl::StatusOr<Draft> DraftSingle(const PlanRequest& request) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<MachineDeviceId> devices,
                           Candidates(request));
  const Reason reason =
      devices.size() == 1 ? Reason::kOnlyDevice : Reason::kBestDevice;
  std::vector<std::pair<double, Draft>> drafts;
  for (MachineDeviceId device : devices) {
    Draft draft = Fill(request, device, reason);
    const double seconds = TotalSeconds(request, draft);
    drafts.emplace_back(seconds, std::move(draft));
  }
  absl::c_stable_sort(
      drafts, [](const auto& a, const auto& b) { return a.first < b.first; });
  // Another function of the module may need memory of the device too: then
  // limits are lower than what the device has.
  FirstFit choice(request, request.objective.memory_limits);
  for (auto& [seconds, draft] : drafts) {
    const bool fits = choice.Offer(std::move(draft));
    if (fits) break;
  }
  return choice.Take();
}

}  // namespace partita
