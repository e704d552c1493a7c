// Replaces the sum of a product by the product of a sum.
// SPDX-License-Identifier: Apache-2.0

#include "passes/factor_sums.h"

#include <optional>
#include <utility>
#include <vector>

#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"
#include "passes/matching.h"

namespace partita {
namespace {

bool IsSum(const OpView& op) {
  if (!op.is(kReduceSum) && !op.is(kReduceMean)) return false;
  const DType dtype = op.result_type(0).dtype;
  return (dtype == DType::kF32 || dtype == DType::kF64) &&
         op.attr_bool("keep_dims");
}

// The operand of the product that must be summed, or -1 if there is none.
int SummedOperand(const OpView& product, const OpView& sum) {
  const TensorType& type = product.result_type(0);
  if (product.is(kNeg)) return 0;
  if (!product.is(kMul)) return -1;
  for (int i : {0, 1}) {
    if (product.operand_type(i) == type &&
        IsOneForEachSum(product.operand_type(1 - i), sum.result_type(0))) {
      return i;
    }
  }
  return -1;
}

// A product, and the operand of it to sum.
struct Factored {
  OpView product;
  int summed;
};

// The chain of products that the sum reads, outermost first, as long as each
// has only one reader.
std::vector<Factored> ProductsOf(const OpView& sum, JointPlacement& joint) {
  std::vector<Factored> products;
  ValueView value = sum.operand(0);
  while (value.has_one_reader()) {
    const std::optional<OpView> product = value.defining_op();
    if (!product.has_value()) break;
    const int summed = SummedOperand(*product, sum);
    if (summed < 0 || !joint.Admit(product->node()) || joint.is_sharded())
      break;
    products.push_back({*product, summed});
    value = product->operand(summed);
  }
  return products;
}

absl::StatusOr<ValueId> AddCopy(Graph& graph, const OpView& op,
                                ValueIds operands, const Placement& placement,
                                NodeId before) {
  NodeSpec spec = CopyOf(op.node(), std::move(operands), &graph.literals());
  spec.placement = placement;
  PARTITA_ASSIGN_OR_RETURN(const NodeId copy,
                           graph.AddNode(std::move(spec), before));
  return graph.node(copy).results[0];
}

absl::Status FactorOut(Graph& graph, const OpView& sum) {
  JointPlacement joint;
  joint.Admit(sum.node());
  if (joint.is_sharded()) return absl::OkStatus();
  const std::vector<Factored> products = ProductsOf(sum, joint);
  if (products.empty()) return absl::OkStatus();
  const Factored& last = products.back();
  PARTITA_ASSIGN_OR_RETURN(
      ValueId value,
      AddCopy(graph, sum, {last.product.operand(last.summed).id()}, joint.get(),
              sum.id()));
  for (auto it = products.rbegin(); it != products.rend(); ++it) {
    ValueIds operands = it->product.node().operands;
    operands[it->summed] = value;
    PARTITA_ASSIGN_OR_RETURN(
        value, AddCopy(graph, it->product, std::move(operands), joint.get(),
                       sum.id()));
  }
  graph.ReplaceAllUses(sum.result(0).id(), value);
  return absl::OkStatus();
}

}  // namespace

absl::Status FactorSums(Graph& graph) {
  for (OpView op : graph.ops()) {
    if (!IsSum(op) || !IsRead(op.result(0))) continue;
    PARTITA_RETURN_IF_ERROR(FactorOut(graph, op));
  }
  return absl::OkStatus();
}

}  // namespace partita
