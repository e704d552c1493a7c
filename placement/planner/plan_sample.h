// Plans of sample graphs, for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_PLAN_SAMPLE_H_
#define PARTITA_PLACEMENT_PLANNER_PLAN_SAMPLE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "placement/cost/sample_graphs.h"
#include "placement/machine/machine.h"
#include "placement/planner/pins.h"
#include "placement/planner/planner.h"
#include "placement/planner/strategies.h"

namespace partita {

// The plan of this strategy, with all memory of every device; its shortage if
// it expects one.
absl::StatusOr<PlacementTable> PlanBy(absl::string_view strategy,
                                      const SampleGraph& g,
                                      const Machine& machine,
                                      const PlannerOptions& options = {},
                                      const SampleCatalog& catalog = {});

// The same, with these pins instead of the graph's own.
absl::StatusOr<PlacementTable> PlanPinned(absl::string_view strategy,
                                          SampleGraph& g,
                                          const Machine& machine,
                                          const std::vector<Pin>& pins,
                                          const SampleCatalog& catalog = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PLAN_SAMPLE_H_
