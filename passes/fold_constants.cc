// Evaluates nodes over constants.
// SPDX-License-Identifier: Apache-2.0

#include "passes/fold_constants.h"

#include <utility>
#include <vector>

#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// A result larger than this is folded only if it is not larger than what it is
// computed from.
constexpr int64_t kMaxGrownBytes = int64_t{1} << 30;

bool GrowsTooMuch(const OpView& op) {
  int64_t read = 0;
  int64_t written = 0;
  for (int i = 0; i < op.num_operands(); ++i) {
    read += op.operand_type(i).num_bytes();
  }
  for (int i = 0; i < op.num_results(); ++i) {
    written += op.result_type(i).num_bytes();
  }
  return written > kMaxGrownBytes && written > read;
}

bool CanFold(const OpView& op) {
  const OpTraits& traits = op.op().traits;
  if (op.is(kConstant) || traits.random || traits.reads_variable) return false;
  if (op.node().placement.placed()) return false;
  for (int i = 0; i < op.num_operands(); ++i) {
    if (op.operand(i).constant() == nullptr) return false;
  }
  return !GrowsTooMuch(op);
}

absl::Status Fold(Graph& graph, const OpView& op) {
  std::vector<HostTensor> operands;
  for (int i = 0; i < op.num_operands(); ++i) {
    const HostTensor& value = *op.operand(i).constant();
    operands.push_back(HostTensor::ConstView(value.type(), value.bytes()));
  }
  PARTITA_ASSIGN_OR_RETURN(std::vector<HostTensor> results,
                           EvaluateNode(op, operands));
  for (int i = 0; i < op.num_results(); ++i) {
    const ValueId old = op.result(i).id();
    const LiteralId literal = graph.literals().Add(std::move(results[i]));
    const ValueId folded =
        graph.AddConstant(literal, graph.value(old).name, op.id());
    graph.ReplaceAllUses(old, folded);
  }
  graph.Erase(op.id());
  return absl::OkStatus();
}

}  // namespace

absl::Status FoldConstants(Graph& graph) {
  for (OpView op : graph.ops()) {
    if (!CanFold(op)) continue;
    PARTITA_RETURN_IF_ERROR(Fold(graph, op));
  }
  return absl::OkStatus();
}

}  // namespace partita
