// Strategy `single`: the whole graph on one device.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/id_vector.h"
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

// Of nodes that are not pinned: one after another, so no step is shorter.
double KernelSeconds(const PlanRequest& request, MachineDeviceId device) {
  double seconds = 0;
  for (NodeId node : request.costs.order()) {
    if (request.pin(node) != nullptr) continue;
    seconds += request.costs.cost(node, device).seconds;
  }
  return seconds;
}

struct RankedDraft {
  MachineDeviceId device;
  Draft draft;
  double seconds = 0;  // of its kernels, then of its predicted step
};

void SortBySeconds(std::vector<RankedDraft>& drafts) {
  absl::c_stable_sort(drafts, [](const RankedDraft& a, const RankedDraft& b) {
    return a.seconds < b.seconds;
  });
}

bool AreAlike(const Link* a, const Link* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->latency == b->latency && a->bandwidth == b->bandwidth &&
         a->duplex == b->duplex && a->bus == b->bus &&
         a->collectives == b->collectives;
}

// True if both compute equally fast and have equal links to all others.
bool AreAlike(const CostModel& costs, MachineDeviceId a, MachineDeviceId b) {
  return costs.SameSpeed(a, b) &&
         absl::c_all_of(costs.devices(), [&](MachineDeviceId other) {
           return other == a || other == b ||
                  AreAlike(costs.link(a, other), costs.link(b, other));
         });
}

// Devices that are part of every step, so that equal ones may have other steps:
// those of pins and that of the outputs.
IdVector<MachineDeviceId, bool> NamedDevices(const PlanRequest& request) {
  IdVector<MachineDeviceId, bool> named(request.costs.num_devices(), false);
  const auto add = [&](absl::string_view name) {
    const MachineDeviceId device = request.costs.FindDevice(name);
    if (device.valid()) named[device] = true;
  };
  add(request.options.output_device);
  for (NodeId node : request.costs.order()) {
    const Placement* pin = request.pin(node);
    if (pin != nullptr) absl::c_for_each(pin->devices, add);
  }
  return named;
}

// Infinite if it cannot be predicted.
double StepSeconds(const PlanRequest& request, const Draft& draft) {
  const absl::StatusOr<PredictedDraft> predicted =
      request.objective.predict(PlacementsOf(request, draft));
  return predicted.ok() ? predicted->step_seconds
                        : std::numeric_limits<double>::infinity();
}

// Puts predicted steps in place of kernel seconds, the fewest of these first.
// Where the kernels alone take longer than another draft's step, the seconds
// stay: they rank after that draft.
void PredictSteps(const PlanRequest& request,
                  std::vector<RankedDraft>& drafts) {
  const IdVector<MachineDeviceId, bool> named = NamedDevices(request);
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (drafts[i].seconds >= least) return;
    const auto predicted = absl::MakeConstSpan(drafts).first(i);
    const auto* alike =
        absl::c_find_if(predicted, [&](const RankedDraft& before) {
          return !named[before.device] && !named[drafts[i].device] &&
                 AreAlike(request.costs, before.device, drafts[i].device);
        });
    drafts[i].seconds = alike != predicted.end()
                            ? alike->seconds
                            : StepSeconds(request, drafts[i].draft);
    least = std::min(least, drafts[i].seconds);
  }
}

}  // namespace

absl::StatusOr<Draft> DraftSingle(const PlanRequest& request) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<MachineDeviceId> devices,
                           Candidates(request));
  const Reason reason =
      devices.size() == 1 ? Reason::kOnlyDevice : Reason::kBestDevice;
  std::vector<RankedDraft> drafts;
  for (MachineDeviceId device : devices) {
    drafts.push_back({device, Fill(request, device, reason),
                      KernelSeconds(request, device)});
  }
  SortBySeconds(drafts);
  if (drafts.size() > 1 && request.objective.predict) {
    PredictSteps(request, drafts);
    SortBySeconds(drafts);
  }
  // Another function of the module may need memory of the device too: then
  // limits are lower than what the device has.
  FirstFit choice(request, request.objective.memory_limits);
  for (RankedDraft& ranked : drafts) {
    const bool fits = choice.Offer(std::move(ranked.draft));
    if (fits) break;
  }
  return choice.Take();
}

}  // namespace partita
