// Predicted beside measured seconds of each node and each op.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_RESIDUALS_H_
#define PARTITA_TOOLS_VIEWER_RESIDUALS_H_

#include <string>
#include <vector>

#include "tools/viewer/measured_trace.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// Sums over the commands of a step that take time.
struct NodeResidual {
  int box = 0;
  double predicted = 0;  // seconds
  double measured = 0;
};
struct OpResidual {
  std::string op;  // as BoxView::op
  int nodes = 0;
  int devices = 0;  // that run them
  double predicted = 0;
  double measured = 0;
};

// By the distance of measured from predicted, the largest first.
struct Residuals {
  std::vector<NodeResidual> nodes;
  std::vector<OpResidual> ops;
};

// Of nodes that run kernels. Empty without a prediction.
Residuals ResidualsOf(const ViewedEntry& entry, const MeasuredTrace& trace);

// Adds a finding to the entry of the trace, in its rank: the op with the
// largest difference of those whose difference is a tenth of the measured step
// of their devices and a half of the prediction. None for a trace of emulated
// devices: their times and the prediction are of different hardware.
void AddResidualFinding(const MeasuredTrace& trace, PlanView& view);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_RESIDUALS_H_
