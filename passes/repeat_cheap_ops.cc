// From the last op to the first, so that operands of a copy are visited after
// it.
// SPDX-License-Identifier: Apache-2.0

#include "passes/repeat_cheap_ops.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr size_t kMaxReaders = 8;

bool IsCheap(const OpView& op) {
  if (!op.is(kAdd) && !op.is(kSub) && !op.is(kMul) && !op.is(kNeg)) {
    return false;
  }
  int whole = 0;
  for (int i = 0; i < op.num_operands(); ++i) {
    whole += op.operand_type(i).dims == op.result_type(0).dims;
  }
  return whole == 1;
}

// A reader with another pin cannot be fused with the op.
bool TakesIn(const OpView& reader, const OpView& op) {
  return reader.op().traits.elementwise && reader.num_results() == 1 &&
         reader.result_type(0).dims == op.result_type(0).dims &&
         reader.node().placement == op.node().placement;
}

// The nodes that read the op's result, each once. Empty if one of them, or the
// caller, needs the result in memory.
std::vector<NodeId> ReadersThatTakeItIn(const Graph& graph, const OpView& op) {
  const ValueId value = op.result(0).id();
  std::vector<NodeId> readers;
  if (graph.is_output(value)) return readers;
  for (const Use& use : graph.value(value).uses) {
    if (absl::c_linear_search(readers, use.node)) continue;
    readers.push_back(use.node);
    if (readers.size() > kMaxReaders || !TakesIn(graph.view(use.node), op)) {
      return {};
    }
  }
  return readers;
}

// A copy of the op for this reader only.
absl::Status GiveCopy(Graph& graph, NodeId op, NodeId reader) {
  const Node& node = graph.node(op);
  const ValueId value = node.results[0];
  NodeSpec spec = CopyOf(node, node.operands, &graph.literals());
  PARTITA_ASSIGN_OR_RETURN(const NodeId copy,
                           graph.AddNode(std::move(spec), reader));
  const ValueId own = graph.node(copy).results[0];
  for (size_t i = 0; i < graph.node(reader).operands.size(); ++i) {
    if (graph.node(reader).operands[i] == value) {
      graph.SetOperand(reader, static_cast<int>(i), own);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RepeatCheapOps(Graph& graph) {
  const std::vector<NodeId> order = graph.order();
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    const OpView view = graph.view(*op);
    if (!IsCheap(view)) continue;
    const std::vector<NodeId> readers = ReadersThatTakeItIn(graph, view);
    for (size_t i = 1; i < readers.size(); ++i) {
      PARTITA_RETURN_IF_ERROR(GiveCopy(graph, *op, readers[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
