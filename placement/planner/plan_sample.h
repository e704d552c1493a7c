// Plans of sample graphs, for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_PLAN_SAMPLE_H_
#define PARTITA_PLACEMENT_PLANNER_PLAN_SAMPLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/machine.h"
#include "placement/planner/pins.h"
#include "placement/planner/planner.h"
#include "placement/planner/strategies.h"

namespace partita {

// By machine device: the bytes that lowering counts for these placements.
absl::StatusOr<std::vector<int64_t>> SampleBytes(
    const SampleGraph& g, const Machine& machine,
    absl::Span<const Placement> placements, const SampleCatalog& catalog = {},
    int depth = 1);

// The placement of this strategy, with all memory of every device, for `depth`
// steps in flight.
absl::StatusOr<PlacementTable> PlanBy(absl::string_view strategy,
                                      const SampleGraph& g,
                                      const Machine& machine,
                                      const PlannerOptions& options = {},
                                      const SampleCatalog& catalog = {},
                                      int depth = 1);

// The same, with these pins instead of the graph's own.
absl::StatusOr<PlacementTable> PlanPinned(absl::string_view strategy,
                                          SampleGraph& g,
                                          const Machine& machine,
                                          const std::vector<Pin>& pins,
                                          const SampleCatalog& catalog = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PLAN_SAMPLE_H_
