// Answers lowering's question about time by simulation.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PREDICT_STEP_H_
#define PARTITA_PARTITA_PREDICT_STEP_H_

#include <vector>

#include "binding/choose_kernels.h"
#include "graph/graph.h"
#include "placement/lower/step_predictor.h"
#include "placement/machine/machine.h"
#include "placement/planner/planner.h"

namespace partita {

// The predicted seconds of the chosen kernels, by node id; 0 for other nodes.
std::vector<double> SecondsByNode(const Graph& graph,
                                  const std::vector<PricedNode>& chosen);

// For entries of a placed graph whose kernels are `chosen`: the latency of a
// step, or for throughput the time between steps. The machine must outlive the
// predictor. Empty for a machine of one device, on which no order is faster,
// unless the goal is memory, which may limit the seconds.
StepPredictor StepPredictorOf(const Graph& graph,
                              const std::vector<PricedNode>& chosen,
                              const Machine& machine, Goal goal);

}  // namespace partita

#endif  // PARTITA_PARTITA_PREDICT_STEP_H_
