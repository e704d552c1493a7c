// Inserts casts before and after products.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/mixed_precision.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

bool IsProduct(const OpView& op) {
  const bool multiplies =
      op.is(kMatmul) || op.is(kConv) || op.is(kConvTranspose);
  return multiplies && op.operand_type(0).dtype == DType::kF32;
}

class Narrowing {
 public:
  Narrowing(Graph& graph, DType dtype)
      : graph_(graph), dtype_(dtype), halves_(graph.value_id_bound()) {}

  absl::Status Narrow(const OpView& op) {
    ValueIds factors = {op.operand(0).id(), op.operand(1).id()};
    for (ValueId& factor : factors) {
      PARTITA_ASSIGN_OR_RETURN(factor, Half(factor, op.id()));
    }
    PARTITA_ASSIGN_OR_RETURN(
        const ValueId product,
        graph_.AddValue(
            CopyOf(op.node(), std::move(factors), &graph_.literals()),
            op.id()));
    if (op.num_operands() == 2) {
      return Become(op.id(), kCast, {product}, {{"to", DType::kF32}});
    }
    PARTITA_ASSIGN_OR_RETURN(const ValueId sum,
                             Cast(product, DType::kF32, op.id()));
    PARTITA_ASSIGN_OR_RETURN(const ValueId bias, ChannelBias(op));
    return Become(op.id(), kAdd, {sum, bias}, {});
  }

 private:
  // A new node before `place`, in its scope.
  absl::StatusOr<ValueId> Add(const OpDef& op, ValueId operand,
                              Attributes attributes, NodeId place) {
    return graph_.AddValue({.op = &op,
                            .operands = {operand},
                            .attributes = std::move(attributes),
                            .scope = graph_.node(place).scope,
                            .location = graph_.node(place).location},
                           place);
  }

  absl::StatusOr<ValueId> Cast(ValueId value, DType to, NodeId place) {
    return Add(kCast, value, {{"to", to}}, place);
  }

  // The value as a factor, cast before the first product that reads it.
  absl::StatusOr<ValueId> Half(ValueId value, NodeId place) {
    ValueId& half = halves_[value.index];
    if (!half.valid()) {
      PARTITA_ASSIGN_OR_RETURN(half, Cast(value, dtype_, place));
    }
    return half;
  }

  // [channels, 1, ...], which broadcasts with the result.
  absl::StatusOr<ValueId> ChannelBias(const OpView& op) {
    std::vector<int64_t> shape(op.result_type(0).rank() - 1, 1);
    shape[0] = op.operand_type(2).dims[0];
    return Add(kReshape, op.operand(2).id(), {{"shape", std::move(shape)}},
               op.id());
  }

  // Changes the node in place, so that its value ids stay valid.
  absl::Status Become(NodeId id, const OpDef& op, const ValueIds& operands,
                      Attributes attributes) {
    graph_.SetOperands(id, operands);
    graph_.node(id).op = &op;
    graph_.node(id).attributes = std::move(attributes);
    return graph_.InferAgain(id);
  }

  Graph& graph_;
  const DType dtype_;
  std::vector<ValueId> halves_;  // by value; invalid: not cast yet
};

}  // namespace

absl::Status NarrowProducts(GraphBuilder& b, DType dtype) {
  if (dtype == DType::kF32 || !b.status().ok()) return absl::OkStatus();
  if (dtype != DType::kBF16 && dtype != DType::kF16) {
    return absl::InvalidArgumentError(absl::StrCat(
        "precision: found ", DTypeName(dtype), "; expected f32, bf16 or f16"));
  }
  Narrowing narrowing(b.graph(), dtype);
  for (const OpView& op : b.graph().ops()) {
    if (!IsProduct(op)) continue;
    PARTITA_RETURN_IF_ERROR(narrowing.Narrow(op));
  }
  return absl::OkStatus();
}

}  // namespace partita
