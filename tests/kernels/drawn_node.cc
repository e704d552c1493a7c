// Bodies of fused nodes, and the list of all kinds.
// SPDX-License-Identifier: Apache-2.0

#include "tests/kernels/drawn_node.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "graph/ops/op_list.h"

namespace partita {

TensorType Type(DType dtype, const Shape& dims) {
  TensorType type;
  type.dtype = dtype;
  type.dims = dims;
  return type;
}

DrawnBody::DrawnBody()
    : pool_(std::make_unique<LiteralPool>()),
      graph_(std::make_unique<Graph>("body", pool_.get())) {}

ValueId DrawnBody::Input(const TensorType& type) {
  return graph_->AddInput("", type);
}

ValueId DrawnBody::Add(const OpDef& op, std::vector<ValueId> operands,
                       Attributes attributes) {
  NodeSpec spec{.op = &op, .operands = {}, .attributes = std::move(attributes)};
  spec.operands.assign(operands.begin(), operands.end());
  absl::StatusOr<ValueId> value = graph_->AddValue(std::move(spec));
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
    std::abort();
  }
  return *value;
}

ValueId DrawnBody::AddEpilogue(ValueId value, int channel_dim, Dice& dice) {
  const Shape whole = dims(value);
  Shape channels(whole.size(), 1);
  channels[channel_dim] = whole[channel_dim];
  const bool is_biased = dice.Chance(60);
  const bool is_residual = dice.Chance(50);
  if (is_biased) value = Add(kAdd, {value, Input(F32(channels))});
  if (is_residual) value = Add(kAdd, {value, Input(F32(whole))});
  switch (dice.Below(is_biased || is_residual ? 7 : 5)) {
    case 0:
      return Add(kRelu, {value});
    case 1:
      return Add(kSigmoid, {value});
    case 2:
      return Add(kLeakyRelu, {value}, {{"alpha", 0.1}});
    case 3:
      return Add(kHardSwish, {value});
    case 4:
      return Add(kMul, {value, Input(F32(dice.Chance(50) ? whole : channels))});
    default:
      return value;
  }
}

OneNode DrawnBody::Fuse(ValueId output) {
  graph_->SetOutputs({output});
  return OneNode(std::move(pool_), std::move(graph_));
}

std::vector<NodeKind> AllNodeKinds() {
  std::vector<NodeKind> all;
  for (const auto kinds : {ConvolutionKinds(), ProductKinds(), ImageKinds(),
                           LineKinds(), MoveKinds()}) {
    all.insert(all.end(), kinds.begin(), kinds.end());
  }
  return all;
}

}  // namespace partita
