// ONNX's Dropout, for inference and in training mode.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// The ratio; 0 unless the node asks for training.
absl::StatusOr<double> RatioOf(NodeImport& node) {
  if (!node.has_input(2)) return 0;
  PARTITA_ASSIGN_OR_RETURN(const std::vector<int64_t> training,
                           node.Ints(2, "training_mode"));
  if (training.empty() || training[0] == 0) return 0;
  if (!node.has_input(1)) return 0.5;
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* ratio,
                           node.Constant(1, "the ratio"));
  const double value =
      ratio->type().num_elements() == 1 ? GetAsDouble(*ratio, 0) : -1;
  if (value >= 0 && value < 1) return value;
  return node.Invalid(absl::StrCat("ratio ", value),
                      "one from 0 up to 1 and less than 1");
}

// Which elements are kept. In every run the numbers follow from the seed, the
// node's index in the graph and the element's index.
Expr Kept(Composition& c, double ratio) {
  NodeImport& node = c.node();
  const Shape& dims = node.type(0).dims;
  HostTensor seed(TensorType{DType::kU64, {}, {}});
  seed.data<uint64_t>()[0] = static_cast<uint64_t>(node.Int("seed", 0));
  const int64_t id = node.graph().num_nodes();
  const Expr uniform = c.Add(
      kRandomUniform, {c.Constant(std::move(seed)), c.Scalar(DType::kU64, 0)},
      {{"shape", std::vector<int64_t>(dims.begin(), dims.end())}, {"id", id}});
  return Joined(kGreaterEqual, uniform, ratio);
}

absl::Status Dropout(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const double ratio, RatioOf(node));
  Composition c(node);
  // The mask had the operand's dtype before opset 10.
  const DType dtype = node.opset() < 10 ? node.type(0).dtype : DType::kBool;
  node.Int("seed", 0);
  if (ratio == 0) {
    c.Set(0, c.Input(0));
    if (node.has_output(1)) {
      const Shape dims = node.type(0).dims;
      c.Set(1, c.Scalar(dtype, 1).Expanded(dims));
    }
    return c.status();
  }
  const Expr kept = Kept(c, ratio);
  c.Set(1, kept);
  const Expr x = c.Input(0);
  return c.Return(x * (kept.Cast(x.dtype()) * (1 / (1 - ratio))));
}

constexpr ConverterRow kRows[] = {
    {"Dropout", Dropout, 1, 2, "seed"},
};

}  // namespace

extern constinit const ConverterFamily kDropoutConverters = {kRows};

}  // namespace partita
