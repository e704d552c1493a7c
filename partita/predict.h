// A compilation's report on its plan: predicted times, memory, transfers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PREDICT_H_
#define PARTITA_PARTITA_PREDICT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "binding/choose_kernels.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

struct Prediction {
  PlanNotes notes;
  // For one step of every entry: what strategies are compared by.
  double step_seconds = 0;     // with `depth` steps overlapping
  double latency_seconds = 0;  // one step alone
  std::vector<std::vector<double>> busy_seconds;  // by entry, by plan device
};

// Simulates every entry. `chosen` has the seconds of its nodes, `reasons` the
// planner's reasons, both by entry. `source` is the module before placement:
// bounds hold for all of its plans.
absl::StatusOr<Prediction> PredictPlan(
    const Plan& plan, const Module& source, const Machine& machine,
    const KernelCatalog& catalog,
    const std::vector<std::vector<PricedNode>>& chosen,
    std::vector<EntryNotes> reasons);

// Pins, devices, memory, transfers and fallbacks of a plan with notes, and its
// prediction; and the number of sharded updates, if requested.
absl::Status FillReport(const Plan& plan, const Prediction& prediction,
                        const std::vector<std::vector<PricedNode>>& chosen,
                        bool shards_updates, CompileReport& report);

}  // namespace partita

#endif  // PARTITA_PARTITA_PREDICT_H_
