// Evaluates nodes over constants.
// SPDX-License-Identifier: Apache-2.0

#include "passes/fold_constants.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr int64_t kLeastBudget = int64_t{64} << 20;
constexpr int64_t kTimesTheModel = 16;

int64_t ResultBytes(const OpView& op) {
  int64_t bytes = 0;
  for (int i = 0; i < op.num_results(); ++i) {
    bytes += op.result_type(i).num_bytes();
  }
  return bytes;
}

bool CanFold(const OpView& op) {
  const OpTraits& traits = op.op().traits;
  if (op.is(kConstant) || traits.random || traits.reads_variable) return false;
  for (int i = 0; i < op.num_operands(); ++i) {
    if (!op.operand(i).is_constant()) return false;
  }
  return true;
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

int64_t FoldingBudget(const Graph& graph) {
  absl::flat_hash_set<LiteralId> held;
  int64_t bytes = 0;
  for (const OpView& op : graph.ops(kConstant)) {
    if (held.insert(op.attr_literal("value")).second) bytes += ResultBytes(op);
  }
  return kLeastBudget + kTimesTheModel * bytes;
}

absl::Status FoldConstants(Graph& graph) {
  int64_t left = FoldingBudget(graph);
  for (OpView op : graph.ops()) {
    if (!CanFold(op)) continue;
    const int64_t bytes = ResultBytes(op);
    if (bytes > left) continue;
    left -= bytes;
    PARTITA_RETURN_IF_ERROR(Fold(graph, op));
  }
  return absl::OkStatus();
}

}  // namespace partita
