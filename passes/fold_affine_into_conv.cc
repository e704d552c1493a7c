// Scales weights and shifts biases of convolutions.
// SPDX-License-Identifier: Apache-2.0

#include "passes/fold_affine_into_conv.h"

#include <optional>
#include <utility>
#include <vector>

#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"

namespace partita {
namespace {

// A mul or add of a convolution's result with a constant per channel.
struct Affine {
  OpView op;
  OpView conv;
  const HostTensor* factor;  // one element, or one for each channel
  JointPlacement joint;      // of op and conv
};

// True if the constant has one element, or has extents of 1 except along
// dimension 1 of a result of `rank` dimensions.
bool IsPerChannel(const TensorType& constant, const TensorType& result) {
  if (constant.num_elements() == 1) return constant.rank() <= result.rank();
  const int missing = result.rank() - constant.rank();
  if (missing < 0 || missing > 1) return false;
  for (int i = 0; i < constant.rank(); ++i) {
    if (i + missing != 1 && constant.dims[i] != 1) return false;
  }
  return constant.dims[1 - missing] == result.dims[1];
}

bool HasConstantWeights(const OpView& conv) {
  for (int i = 1; i < conv.num_operands(); ++i) {
    if (!conv.operand(i).is_constant()) return false;
  }
  return true;
}

std::optional<Affine> Match(const OpView& op) {
  if (!op.is(kMul) && !op.is(kAdd)) return std::nullopt;
  for (int side = 0; side < 2; ++side) {
    const std::optional<OpView> conv = op.operand(side).defining_op();
    const ValueView factor = op.operand(1 - side);
    if (!conv.has_value() || !factor.is_constant()) continue;
    if (!conv->is(kConv) && !conv->is(kConvTranspose)) continue;
    if (!op.operand(side).has_one_reader() || !HasConstantWeights(*conv)) {
      continue;
    }
    if (!IsPerChannel(factor.type(), op.result_type(0))) continue;
    if (op.operand_type(side) != op.result_type(0)) continue;
    JointPlacement joint;
    if (!joint.Admit(conv->node()) || !joint.Admit(op.node())) continue;
    return Affine{op, *conv, factor.constant(), joint};
  }
  return std::nullopt;
}

double At(const HostTensor& factor, int64_t channel) {
  return GetAsDouble(factor, factor.type().num_elements() == 1 ? 0 : channel);
}

// Multiplies `block` neighbouring elements from `first` on.
void Scale(HostTensor& tensor, int64_t first, int64_t block, double factor) {
  VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    for (T& w : tensor.data<T>().subspan(first, block)) {
      w = static_cast<T>(static_cast<double>(w) * factor);
    }
  });
}

// Conv weights are (out, in / groups, ...); transposed ones (in, out / groups,
// ...), where input channel c belongs to group c / (in / groups).
HostTensor ScaledWeights(const Affine& affine) {
  HostTensor weights = affine.conv.operand(1).constant()->Clone();
  const Shape& dims = weights.type().dims;
  if (weights.type().num_elements() == 0) return weights;
  if (affine.conv.is(kConv)) {
    const int64_t block = weights.type().num_elements() / dims[0];
    for (int64_t o = 0; o < dims[0]; ++o) {
      Scale(weights, o * block, block, At(*affine.factor, o));
    }
    return weights;
  }
  const int64_t group = dims[0] / affine.conv.attr_int("groups");
  const int64_t block = weights.type().num_elements() / (dims[0] * dims[1]);
  for (int64_t c = 0; c < dims[0]; ++c) {
    for (int64_t j = 0; j < dims[1]; ++j) {
      Scale(weights, (c * dims[1] + j) * block, block,
            At(*affine.factor, c / group * dims[1] + j));
    }
  }
  return weights;
}

// The bias times the factor, or plus it. A missing bias stays missing with a
// factor.
std::optional<HostTensor> ChangedBias(const Affine& affine) {
  const bool scales = affine.op.is(kMul);
  const bool has_bias = affine.conv.num_operands() == 3;
  if (scales && !has_bias) return std::nullopt;
  const TensorType& result = affine.op.result_type(0);
  HostTensor bias(TensorType{result.dtype, {result.dims[1]}, {}});
  for (int64_t c = 0; c < result.dims[1]; ++c) {
    const double old =
        has_bias ? GetAsDouble(*affine.conv.operand(2).constant(), c) : 0;
    const double factor = At(*affine.factor, c);
    SetFromDouble(bias, c, scales ? old * factor : old + factor);
  }
  return bias;
}

absl::Status Fold(Graph& graph, const Affine& affine) {
  const OpView& conv = affine.conv;
  ValueIds operands = {conv.operand(0).id(), conv.operand(1).id()};
  if (affine.op.is(kMul)) {
    operands[1] = graph.AddConstant(graph.literals().Add(ScaledWeights(affine)),
                                    "", affine.op.id());
  }
  if (std::optional<HostTensor> bias = ChangedBias(affine)) {
    operands.push_back(graph.AddConstant(graph.literals().Add(*std::move(bias)),
                                         "", affine.op.id()));
  }
  const ValueId old = affine.op.result(0).id();
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId folded,
      graph.AddValue({.op = conv.node().op,
                      .operands = std::move(operands),
                      .attributes = conv.node().attributes,
                      .result_names = {graph.value(old).name},
                      .scope = conv.node().scope,
                      .location = conv.node().location,
                      .placement = affine.joint.get()},
                     affine.op.id()));
  graph.ReplaceAllUses(old, folded);
  graph.Erase(affine.op.id());
  graph.Erase(conv.id());
  return absl::OkStatus();
}

}  // namespace

absl::Status FoldAffineIntoConv(Graph& graph) {
  // In order, so that a second mul or add finds the convolution with the first
  // one folded in.
  for (OpView op : graph.ops()) {
    if (!graph.alive(op.id())) continue;
    const std::optional<Affine> affine = Match(op);
    if (!affine.has_value()) continue;
    PARTITA_RETURN_IF_ERROR(Fold(graph, *affine));
  }
  return absl::OkStatus();
}

}  // namespace partita
