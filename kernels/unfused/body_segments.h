// A fused node's body as a sequence of nodes that other kernels compute.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_UNFUSED_BODY_SEGMENTS_H_
#define PARTITA_KERNELS_UNFUSED_BODY_SEGMENTS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/op_view.h"

namespace partita {

struct BodySegment {
  OpView node() const { return graph->view(id); }

  std::unique_ptr<Graph> graph;  // the node, over inputs and constants
  NodeId id;
  std::vector<ValueId> operands;  // values of the body, by operand of the node
  std::vector<ValueId> results;   // the same by result
};

// In the order of the body: each op that is not elementwise, and runs of
// elementwise ops of equal extents as fused nodes. Operands that are constants
// of the fused node's graph are constants here too. Values have the layouts of
// the fused node's operands and results; intermediates with the extents of
// result 0 have its layout, others are row-major.
absl::StatusOr<std::vector<BodySegment>> SegmentsOf(const OpView& fused);

}  // namespace partita

#endif  // PARTITA_KERNELS_UNFUSED_BODY_SEGMENTS_H_
