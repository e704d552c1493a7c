// Turns batch norms with constant statistics into mul and add.
// SPDX-License-Identifier: Apache-2.0

#include "passes/decompose_batch_norm.h"

#include <cmath>
#include <utility>

#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "passes/matching.h"

namespace partita {
namespace {

struct Affine {
  HostTensor scale;
  HostTensor shift;
};

// One element for each channel, shaped to broadcast over all later dimensions.
TensorType PerChannel(const TensorType& x) {
  TensorType type{x.dtype, Shape(x.rank() - 1, 1), {}};
  type.dims[0] = x.dims[1];
  return type;
}

Affine AffineOf(const OpView& op) {
  const HostTensor& scale = *op.operand(1).constant();
  const HostTensor& bias = *op.operand(2).constant();
  const HostTensor& mean = *op.operand(3).constant();
  const HostTensor& variance = *op.operand(4).constant();
  const TensorType type = PerChannel(op.operand_type(0));
  Affine affine{HostTensor(type), HostTensor(type)};
  for (int64_t c = 0; c < type.dims[0]; ++c) {
    const double deviation =
        std::sqrt(GetAsDouble(variance, c) + op.attr_float("epsilon"));
    const double s = GetAsDouble(scale, c) / deviation;
    SetFromDouble(affine.scale, c, s);
    SetFromDouble(affine.shift, c,
                  GetAsDouble(bias, c) - GetAsDouble(mean, c) * s);
  }
  return affine;
}

bool HasConstantStatistics(const OpView& op) {
  for (int i = 1; i < 5; ++i) {
    if (!op.operand(i).is_constant()) return false;
  }
  return op.operand_type(0).rank() >= 2;
}

absl::Status Decompose(Graph& graph, const OpView& op) {
  Affine affine = AffineOf(op);
  LiteralPool& literals = graph.literals();
  const ValueId scale =
      graph.AddConstant(literals.Add(std::move(affine.scale)), "", op.id());
  const ValueId shift =
      graph.AddConstant(literals.Add(std::move(affine.shift)), "", op.id());
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId product,
      graph.AddValue(SpecLike(op, op.node().placement, kMul,
                              {op.operand(0).id(), scale}, {}),
                     op.id()));
  NodeSpec shifted =
      SpecLike(op, op.node().placement, kAdd, {product, shift}, {});
  shifted.result_names = {op.result(0).name()};
  PARTITA_ASSIGN_OR_RETURN(const ValueId sum,
                           graph.AddValue(std::move(shifted), op.id()));
  graph.ReplaceAllUses(op.result(0).id(), sum);
  graph.Erase(op.id());
  return absl::OkStatus();
}

}  // namespace

absl::Status DecomposeBatchNorm(Graph& graph) {
  for (OpView op : graph.ops(kBatchNorm)) {
    if (!HasConstantStatistics(op)) continue;
    PARTITA_RETURN_IF_ERROR(Decompose(graph, op));
  }
  return absl::OkStatus();
}

}  // namespace partita
