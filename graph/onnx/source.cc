// ONNX ops that make tensors from attributes and shapes only.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/onnx/weight_files.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "graph/text/number_text.h"
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

// A fill, which folding turns into bytes if it is read.
absl::Status ConstantOfShape(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(std::vector<int64_t> shape, node.Ints(0, "shape"));
  DType dtype = DType::kF32;
  Number value;
  if (const onnx::AttributeProto* attribute = node.Attr("value")) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor tensor,
                             node.weights().Read(attribute->t()));
    if (tensor.type().num_elements() != 1) {
      return node.Invalid(tensor.type().ToString(), "a value of one element");
    }
    dtype = tensor.type().dtype;
    value = GetNumber(tensor, 0);
  }
  return node.Return(node.Add(
      kFill, {},
      {{"dtype", dtype}, {"shape", std::move(shape)}, {"value", value}}));
}

absl::StatusOr<Number> ScalarInput(NodeImport& node, int i,
                                   absl::string_view what) {
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* tensor, node.Constant(i, what));
  if (tensor->type().num_elements() != 1) {
    return node.Invalid(tensor->type().ToString(), "one element");
  }
  return GetNumber(*tensor, 0);
}

// How many of start, start + step, ... are before the limit.
double CountOf(double start, double limit, double step) {
  const double count = std::ceil((limit - start) / step);
  return count < 0 ? 0 : count;
}
double CountOf(int64_t start, int64_t limit, int64_t step) {
  if (step < 0 ? start <= limit : start >= limit) return 0;
  // Differences of integers may need a 65th bit, but not also a sign.
  uint64_t span = static_cast<uint64_t>(limit) - static_cast<uint64_t>(start);
  uint64_t stride = static_cast<uint64_t>(step);
  if (step < 0) {
    span = -span;
    stride = -stride;
  }
  return static_cast<double>(span / stride + (span % stride != 0));
}

absl::Status Range(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Number start, ScalarInput(node, 0, "start"));
  PARTITA_ASSIGN_OR_RETURN(const Number limit, ScalarInput(node, 1, "limit"));
  PARTITA_ASSIGN_OR_RETURN(const Number step, ScalarInput(node, 2, "delta"));
  if (step.ToDouble() == 0) {
    return node.Invalid("delta 0", "a delta that reaches the limit");
  }
  const double count =
      IsFloat(node.type(0).dtype)
          ? CountOf(start.ToDouble(), limit.ToDouble(), step.ToDouble())
          : CountOf(start.To<int64_t>(), limit.To<int64_t>(),
                    step.To<int64_t>());
  if (!(count <= kMaxTensorBytes)) {
    return node.Invalid(
        absl::StrCat(count, " elements from ", NumberText(start), " to ",
                     NumberText(limit), " by ", NumberText(step)),
        absl::StrCat("at most ", kMaxTensorBytes));
  }
  return node.Return(node.Add(kIota, {},
                              {{"dtype", node.type(0).dtype},
                               {"start", start},
                               {"step", step},
                               {"count", static_cast<int64_t>(count)}}));
}

// Ones on the k-th diagonal, of the operand's extents.
absl::Status EyeLike(NodeImport& node) {
  const TensorType& x = node.type(0);
  if (x.rank() != 2) return node.Invalid(x.ToString(), "a matrix");
  DType dtype = x.dtype;
  if (node.has_attr("dtype")) {
    const std::optional<DType> named = DTypeOfOnnx(node.Int("dtype", 0));
    if (!named.has_value())
      return node.Unsupported("dtype", "a number or bool");
    dtype = *named;
  }
  if (x.num_elements() > kMaxTable) {
    return node.Unsupported(x.ToString(), "a smaller matrix");
  }
  HostTensor eye(TensorType{dtype, x.dims, {}});
  // A matrix without elements may have any number of rows: only those that the
  // diagonal crosses are visited.
  const int64_t k = std::clamp(node.Int("k", 0), -x.dims[0], x.dims[1]);
  const int64_t end = std::min(x.dims[0], x.dims[1] - k);
  for (int64_t row = std::max<int64_t>(0, -k); row < end; ++row) {
    SetFromDouble(eye, row * x.dims[1] + row + k, 1);
  }
  return node.Set(0, node.AddConstant(std::move(eye)));
}

constexpr ConverterRow kRows[] = {
    {"Constant", Constant, 0, 1,
     "value value_float value_floats value_int value_ints"},
    {"ConstantOfShape", ConstantOfShape, 1, 1, "value"},
    {"EyeLike", EyeLike, 1, 1, "dtype k"},
    {"Range", Range, 3},
};

}  // namespace

extern constinit const ConverterFamily kSourceConverters = {kRows};

}  // namespace partita
