// ONNX ops that make tensors from nothing but attributes and shapes.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/onnx/weight_files.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

template <typename T, typename Field>
HostTensor ListTensor(const Field& field) {
  HostTensor tensor(TensorType{DTypeOf<T>(), {field.size()}, {}});
  for (int i = 0; i < field.size(); ++i) {
    tensor.data<T>()[i] = static_cast<T>(field.Get(i));
  }
  return tensor;
}

absl::Status Constant(NodeImport& node) {
  if (const onnx::AttributeProto* value = node.Attr("value")) {
    PARTITA_ASSIGN_OR_RETURN(
        const LiteralId literal,
        node.weights().Add(value->t(), node.graph().literals()));
    return node.Set(0, node.graph().AddConstant(literal));
  }
  if (const onnx::AttributeProto* value = node.Attr("value_float")) {
    return node.Set(0, node.Scalar(DType::kF32, value->f()));
  }
  if (const onnx::AttributeProto* value = node.Attr("value_int")) {
    HostTensor tensor(TensorType{DType::kI64, {}, {}});
    tensor.data<int64_t>()[0] = value->i();
    return node.Set(0, node.AddConstant(std::move(tensor)));
  }
  if (const onnx::AttributeProto* value = node.Attr("value_floats")) {
    return node.Set(0, node.AddConstant(ListTensor<float>(value->floats())));
  }
  if (const onnx::AttributeProto* value = node.Attr("value_ints")) {
    return node.Set(0, node.AddConstant(ListTensor<int64_t>(value->ints())));
  }
  return node.Unsupported("a constant of strings or a sparse one",
                          "a dense tensor of numbers");
}

// A fill, which folding turns into bytes where somebody reads it.
absl::Status ConstantOfShape(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(std::vector<int64_t> shape, node.Ints(0, "shape"));
  DType dtype = DType::kF32;
  double value = 0;
  if (const onnx::AttributeProto* attribute = node.Attr("value")) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor tensor,
                             node.weights().Read(attribute->t()));
    if (tensor.type().num_elements() != 1) {
      return node.Invalid(tensor.type().ToString(), "a value of one element");
    }
    dtype = tensor.type().dtype;
    value = GetAsDouble(tensor, 0);
  }
  return node.Return(node.Add(
      kFill, {},
      {{"dtype", dtype}, {"shape", std::move(shape)}, {"value", value}}));
}

absl::StatusOr<double> ScalarInput(NodeImport& node, int i,
                                   absl::string_view what) {
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* tensor, node.Constant(i, what));
  if (tensor->type().num_elements() != 1) {
    return node.Invalid(tensor->type().ToString(), "one element");
  }
  return GetAsDouble(*tensor, 0);
}

absl::Status Range(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const double start, ScalarInput(node, 0, "start"));
  PARTITA_ASSIGN_OR_RETURN(const double limit, ScalarInput(node, 1, "limit"));
  PARTITA_ASSIGN_OR_RETURN(const double step, ScalarInput(node, 2, "delta"));
  const double count = std::ceil((limit - start) / step);
  if (step == 0 || !(count < 1e12)) {
    return node.Invalid(absl::StrCat("delta ", step),
                        "a delta that reaches the limit");
  }
  return node.Return(
      node.Add(kIota, {},
               {{"dtype", node.type(0).dtype},
                {"start", start},
                {"step", step},
                {"count", static_cast<int64_t>(std::max(0.0, count))}}));
}

// Ones on the k-th diagonal, of the operand's extents.
absl::Status EyeLike(NodeImport& node) {
  const TensorType& x = node.type(0);
  if (x.rank() != 2) return node.Invalid(x.ToString(), "a matrix");
  DType dtype = x.dtype;
  if (node.has_attr("dtype")) {
    const std::optional<DType> named =
        DTypeOfOnnx(static_cast<int>(node.Int("dtype", 0)));
    if (!named.has_value())
      return node.Unsupported("dtype", "a number or bool");
    dtype = *named;
  }
  constexpr int64_t kMaxElements = int64_t{1} << 28;
  if (x.num_elements() > kMaxElements) {
    return node.Unsupported(x.ToString(), "a smaller matrix");
  }
  HostTensor eye(TensorType{dtype, x.dims, {}});
  const int64_t k = node.Int("k", 0);
  for (int64_t row = 0; row < x.dims[0]; ++row) {
    const int64_t column = row + k;
    if (column < 0 || column >= x.dims[1]) continue;
    SetFromDouble(eye, row * x.dims[1] + column, 1);
  }
  return node.Set(0, node.AddConstant(std::move(eye)));
}

constexpr ConverterRow kRows[] = {
    {"Constant", Constant, 0},
    {"ConstantOfShape", ConstantOfShape, 1},
    {"EyeLike", EyeLike, 1},
    {"Range", Range, 3},
};

}  // namespace

absl::Span<const ConverterRow> SourceConverters() { return kRows; }

}  // namespace partita
