// Makes the weights of a 1x1 convolution; depth_to_space arranges its result.
// SPDX-License-Identifier: Apache-2.0

#include "passes/unfold_conv_transpose.h"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"
#include "passes/matching.h"

namespace partita {
namespace {

bool AllAre(const OpView& op, const char* attribute, int64_t value) {
  return absl::c_all_of(op.attr_ints(attribute),
                        [&](int64_t v) { return v == value; });
}

bool Matches(const OpView& op) {
  const TensorType& weights = op.operand_type(1);
  if (weights.rank() != 4 || op.attr_int("groups") != 1) return false;
  const int64_t block = weights.dims[2];
  if (block < 2 || weights.dims[3] != block) return false;
  if (op.attr_ints("strides").size() != 2 || !AllAre(op, "strides", block) ||
      !AllAre(op, "dilations", 1) || !AllAre(op, "pads_before", 0) ||
      !AllAre(op, "pads_after", 0) || !AllAre(op, "output_padding", 0)) {
    return false;
  }
  for (int i = 1; i < op.num_operands(); ++i) {
    if (!op.operand(i).is_constant()) return false;
  }
  return true;
}

// (in, out, i, j) becomes (i, j, out; in): the block's position is outermost.
HostTensor UnfoldedWeights(const HostTensor& weights) {
  const Shape& dims = weights.type().dims;
  const int64_t in = dims[0], out = dims[1], area = dims[2] * dims[3];
  HostTensor unfolded(
      TensorType{weights.type().dtype, {area * out, in, 1, 1}, {}});
  const size_t bytes = BitsOf(weights.type().dtype) / 8;
  for (int64_t c = 0; c < in; ++c) {
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t p = 0; p < area; ++p) {
        std::memcpy(unfolded.bytes() + ((p * out + o) * in + c) * bytes,
                    weights.bytes() + ((c * out + o) * area + p) * bytes,
                    bytes);
      }
    }
  }
  return unfolded;
}

HostTensor Repeated(const HostTensor& bias, int64_t times) {
  const size_t bytes = bias.byte_span().size();
  HostTensor repeated(
      TensorType{bias.type().dtype, {bias.type().num_elements() * times}, {}});
  for (int64_t i = 0; i < times; ++i) {
    std::memcpy(repeated.bytes() + i * bytes, bias.bytes(), bytes);
  }
  return repeated;
}

// The activation that is the only reader of the value, if there is one.
std::optional<OpView> ActivationOf(const ValueView& value) {
  const std::optional<OpView> op = value.only_reader();
  if (!op.has_value()) return std::nullopt;
  const bool joins = op->op().traits.elementwise && op->num_operands() == 1 &&
                     op->num_results() == 1 &&
                     op->result_type(0) == value.type();
  return joins ? op : std::nullopt;
}

// The transposed convolution and the activations after it.
struct Chain {
  std::vector<OpView> ops;
  JointPlacement joint;
};

Chain ChainOf(const OpView& conv) {
  Chain chain;
  chain.ops.push_back(conv);
  chain.joint.Admit(conv.node());
  while (const std::optional<OpView> next =
             ActivationOf(chain.ops.back().result(0))) {
    if (!chain.joint.Admit(next->node())) break;
    chain.ops.push_back(*next);
  }
  return chain;
}

absl::StatusOr<ValueId> AddLike(Graph& graph, const OpView& op, ValueId operand,
                                const Placement& placement) {
  return graph.AddValue(
      SpecLike(op, placement, op.op(), {operand}, op.node().attributes),
      op.id());
}

absl::StatusOr<ValueId> AddConv(Graph& graph, const OpView& op,
                                const Placement& placement) {
  const HostTensor& weights = *op.operand(1).constant();
  const int64_t area = weights.type().dims[2] * weights.type().dims[3];
  LiteralPool& literals = graph.literals();
  ValueIds operands = {
      op.operand(0).id(),
      graph.AddConstant(literals.Add(UnfoldedWeights(weights)), "", op.id())};
  if (op.num_operands() == 3) {
    operands.push_back(graph.AddConstant(
        literals.Add(Repeated(*op.operand(2).constant(), area)), "", op.id()));
  }
  return graph.AddValue(SpecLike(op, placement, kConv, std::move(operands), {}),
                        op.id());
}

absl::Status Unfold(Graph& graph, const OpView& op) {
  const auto [replaced, joint] = ChainOf(op);
  PARTITA_ASSIGN_OR_RETURN(ValueId running, AddConv(graph, op, joint.get()));
  for (size_t i = 1; i < replaced.size(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(running,
                             AddLike(graph, replaced[i], running, joint.get()));
  }
  const NodeId last = replaced.back().id();
  const ValueId old = replaced.back().result(0).id();
  const int64_t block = op.operand_type(1).dims[2];
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId placed,
      graph.AddValue({.op = &kDepthToSpace,
                      .operands = {running},
                      .attributes = {{"block", block}},
                      .result_names = {graph.value(old).name},
                      .scope = op.node().scope,
                      .location = op.node().location,
                      .placement = joint.get()},
                     last));
  graph.ReplaceAllUses(old, placed);
  for (size_t i = replaced.size(); i-- > 0;) graph.Erase(replaced[i].id());
  return absl::OkStatus();
}

}  // namespace

absl::Status UnfoldConvTranspose(Graph& graph) {
  for (OpView op : graph.ops(kConvTranspose)) {
    // A sharding refers to channels and rows that the unfolded op does not
    // have.
    if (!Matches(op) || !op.node().placement.results.empty()) continue;
    PARTITA_RETURN_IF_ERROR(Unfold(graph, op));
  }
  return absl::OkStatus();
}

}  // namespace partita
