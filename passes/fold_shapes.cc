// Evaluates ops that read only the type of their operand.
// SPDX-License-Identifier: Apache-2.0

#include "passes/fold_shapes.h"

#include <utility>
#include <vector>

#include "graph/evaluate.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::Status Fold(Graph& graph, const OpView& op) {
  // Their eval reads only the type, so no bytes are needed.
  std::vector<HostTensor> operand;
  operand.push_back(HostTensor::View(op.operand_type(0).RowMajor(), nullptr));
  PARTITA_ASSIGN_OR_RETURN(std::vector<HostTensor> results,
                           EvaluateNode(op, operand));
  const ValueId old = op.result(0).id();
  const ValueId folded =
      graph.AddConstant(graph.literals().Add(std::move(results[0])),
                        graph.value(old).name, op.id());
  graph.ReplaceAllUses(old, folded);
  graph.Erase(op.id());
  return absl::OkStatus();
}

}  // namespace

absl::Status FoldShapes(Graph& graph) {
  for (OpView op : graph.ops()) {
    if (!op.is(kShape) && !op.is(kSize)) continue;
    PARTITA_RETURN_IF_ERROR(Fold(graph, op));
  }
  return absl::OkStatus();
}

}  // namespace partita
