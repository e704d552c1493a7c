// Checks links and memory of drafts.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/first_fit.h"

#include <algorithm>
#include <utility>

#include "graph/status_macros.h"

namespace partita {
namespace {

std::vector<int64_t> UsableMemory(const Machine& machine) {
  std::vector<int64_t> bytes;
  for (const MachineDevice& device : machine.devices) {
    bytes.push_back(device.usable());
  }
  return bytes;
}

// On the device that lacks most; 0: the draft fits.
int64_t MissingBytes(const std::vector<int64_t>& needed,
                     const std::vector<int64_t>& limits) {
  int64_t missing = 0;
  for (size_t d = 0; d < needed.size(); ++d) {
    missing = std::max(missing, needed[d] - limits[d]);
  }
  return missing;
}

}  // namespace

FirstFit::FirstFit(const PlanRequest& request, std::vector<int64_t> limits)
    : request_(request), limits_(std::move(limits)) {}

FirstFit::FirstFit(const PlanRequest& request)
    : FirstFit(request, UsableMemory(request.costs.machine())) {}

bool FirstFit::Offer(Draft draft) {
  if (absl::Status links = CheckLinks(request_, draft); !links.ok()) {
    fault_.Update(links);
    return false;
  }
  const absl::StatusOr<std::vector<int64_t>> needed =
      request_.objective.needed_bytes(PlacementsOf(request_, draft));
  if (!needed.ok()) {
    fault_.Update(needed.status());
    return false;
  }
  const int64_t missing = MissingBytes(*needed, limits_);
  if (!draft_.has_value() || missing < missing_) {
    draft_ = std::move(draft);
    missing_ = missing;
  }
  return missing == 0;
}

absl::StatusOr<Draft> FirstFit::Take() {
  if (!draft_.has_value()) return fault_;
  return *std::move(draft_);
}

}  // namespace partita
