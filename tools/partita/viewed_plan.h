// A plan as the viewer shows it, predicted and explained.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_VIEWED_PLAN_H_
#define PARTITA_TOOLS_PARTITA_VIEWED_PLAN_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partita/options/arguments.h"
#include "partita/plan_prices.h"
#include "tools/partita/plan_source.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// That of --machine, else the plan's own; nothing if there is neither. Errors
// as ReadPlanMachine.
absl::StatusOr<std::optional<PlanMachine>> FindPlanMachine(
    const Plan& plan, const std::string& path, const Arguments& arguments);

// Errors as ReadPlanView.
absl::StatusOr<PlanView> ReadPredictedView(
    const Plan& plan, const std::optional<PlanMachine>& machine);

// Explains at most `most` NodesOfInterest of all entries together; with the
// plan's source, also prices their options. Errors as ExplainNodes and
// PriceOptions.
absl::Status AddExplanations(const Plan& plan, const PlanMachine& machine,
                             int most, std::optional<PlanSource> source,
                             PlanView& view);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_VIEWED_PLAN_H_
