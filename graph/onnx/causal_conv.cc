// ONNX's CausalConvWithState: a convolution of each channel with previous
// elements, which the previous node returned as a state.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/onnx/attention_sizes.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

enum Input { kX, kWeights, kBias, kPast };

// Elements before the first that a result reads.
int64_t Before(const NodeImport& node) {
  return node.type(kWeights).dims[2] - 1;
}

absl::Status CheckInputs(const NodeImport& node) {
  const TensorType& x = node.type(kX);
  if (x.rank() != 3 || !IsFloat(x.dtype)) {
    return node.Invalid(x.ToString(), "floats as [batch, channels, length]");
  }
  const int64_t channels = x.dims[1];
  const int64_t kernel = node.rank(kWeights) == 3
                             ? std::max<int64_t>(node.type(kWeights).dims[2], 1)
                             : 1;
  PARTITA_RETURN_IF_ERROR(ExpectInput(node, kWeights, x.dtype,
                                      {channels, 1, kernel},
                                      "as [channels, 1, size of the kernel]"));
  if (node.has_input(kBias)) {
    PARTITA_RETURN_IF_ERROR(
        ExpectInput(node, kBias, x.dtype, {channels}, "one for each channel"));
  }
  if (!node.has_input(kPast)) return absl::OkStatus();
  return ExpectInput(node, kPast, x.dtype, {x.dims[0], channels, kernel - 1},
                     "as [batch, channels, size of the kernel - 1]");
}

// The operand after its previous elements: the past, or zeros.
Expr Continued(Composition& c) {
  const Expr x = c.Input(kX);
  if (c.node().has_input(kPast)) return Concatenated({c.Input(kPast), x}, 2);
  return x.Apply(kPad,
                 {{"before", std::vector<int64_t>{0, 0, Before(c.node())}},
                  {"after", std::vector<int64_t>{0, 0, 0}}});
}

Expr Convolved(Composition& c) {
  const bool has_past = c.node().has_input(kPast);
  std::vector<Expr> operands = {has_past ? Continued(c) : c.Input(kX),
                                c.Input(kWeights)};
  if (c.node().has_input(kBias)) operands.push_back(c.Input(kBias));
  return c.Add(
      kConv, operands,
      {{"groups", c.node().type(kX).dims[1]},
       {"pads_before", std::vector<int64_t>{has_past ? 0 : Before(c.node())}},
       {"pads_after", std::vector<int64_t>{0}}});
}

// The last elements, which the next node reads.
Expr State(Composition& c) {
  const int64_t size = Before(c.node());
  if (size == 0) return c.Input(kX).Sliced(2, 0, 0);
  const bool in_x = size <= c.node().type(kX).dims[2];
  const Expr line = in_x ? c.Input(kX) : Continued(c);
  return line.Sliced(2, line.dim(2) - size, size);
}

absl::Status CausalConv(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(
      const std::string activation,
      node.Choice("activation", "none", {"none", "silu", "swish"}));
  PARTITA_RETURN_IF_ERROR(CheckInputs(node));
  Composition c(node);
  Expr result = Convolved(c);
  if (activation != "none") {
    result = result.Cast(DType::kF32).Apply(kSilu).Cast(result.dtype());
  }
  if (node.has_output(1)) c.Set(1, State(c));
  return c.Return(result);
}

constexpr ConverterRow kRows[] = {
    {"CausalConvWithState", CausalConv, 2, 2, "activation"},
};

}  // namespace

extern constinit const ConverterFamily kCausalConvConverters = {kRows};

}  // namespace partita
