// Runs strategies as auto does.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/strategy_drafts.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "placement/planner/constraints.h"
#include "placement/planner/memory_rounds.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

bool HasPins(const PlanRequest& request) {
  return absl::c_any_of(request.costs.order(), [&](NodeId node) {
    return request.pin(node) != nullptr;
  });
}

bool IsTimeOver(const Objective& objective) {
  return objective.is_time_over && objective.is_time_over();
}

std::vector<int64_t> UsableBytes(const Machine& machine) {
  std::vector<int64_t> bytes;
  for (const MachineDevice& device : machine.devices) {
    bytes.push_back(device.usable());
  }
  return bytes;
}

class Drafter {
 public:
  Drafter(const PlanRequest& request, const Planner& planner)
      : request_(request),
        planner_(planner),
        usable_(UsableBytes(request.costs.machine())),
        rounds_(request.objective.memory_limits, planner.reads_memory_limits) {}

  std::optional<Draft> Run() {
    while (rounds_.goes_on()) {
      absl::StatusOr<Draft> draft = Ask();
      if (!draft.ok() || !CheckLinks(request_, *draft).ok()) break;
      const auto needed =
          request_.objective.needed_bytes(PlacementsOf(request_, *draft));
      if (!needed.ok()) break;
      const auto [device, missing] = ShortageOf(*needed);
      if (missing == 0) return *std::move(draft);
      if (rounds_.EndShort(device, missing)) least_ = *std::move(draft);
    }
    return std::move(least_);
  }

 private:
  struct Shortage {
    int device = 0;
    int64_t missing = 0;  // bytes; 0: the draft fits
  };

  absl::StatusOr<Draft> Ask() const {
    Objective objective = request_.objective;
    objective.memory_limits = rounds_.limits();
    return planner_.draft(
        {request_.costs, objective, request_.options, request_.constraints});
  }

  // On the device that lacks most.
  Shortage ShortageOf(const std::vector<int64_t>& needed) const {
    Shortage most;
    for (size_t d = 0; d < needed.size(); ++d) {
      const int64_t missing = needed[d] - usable_[d];
      if (missing > most.missing) most = {static_cast<int>(d), missing};
    }
    return most;
  }

  const PlanRequest& request_;
  const Planner& planner_;
  const std::vector<int64_t> usable_;
  MemoryRounds rounds_;
  std::optional<Draft> least_;
};

// The search goes on from it.
void ExplainAsSearched(const PlanRequest& request, Draft& draft) {
  for (NodeId node : request.costs.order()) {
    if (!request.costs.computes(node)) continue;
    PlacedNode& why = draft.why[node];
    if (why.reason != Reason::kPinned) why = {.reason = Reason::kSearched};
  }
}

}  // namespace

std::vector<Draft> StrategyDrafts(const PlanRequest& request) {
  const bool has_pins = HasPins(request);
  std::vector<Draft> drafts;
  for (const Planner& planner : Planners()) {
    if (planner.lowers_many || (planner.needs_pins && !has_pins)) continue;
    if (!drafts.empty() && IsTimeOver(request.objective)) break;
    std::optional<Draft> draft = Drafter(request, planner).Run();
    if (!draft.has_value()) continue;
    const bool is_allowed = request.constraints == nullptr ||
                            request.constraints->Check(request, *draft).ok();
    if (!is_allowed) continue;
    ExplainAsSearched(request, *draft);
    drafts.push_back(*std::move(draft));
  }
  return drafts;
}

}  // namespace partita
