// Exports ops that make tensors from attributes only.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/onnx/export/node_export.h"
#include "graph/onnx/export/operand_types.h"
#include "graph/ops/op_list.h"
#include "graph/text/number_text.h"

namespace partita {
namespace {

absl::Status Fill(NodeExport& node) {
  HostTensor value(TensorType{node.op().attr_dtype("dtype"), {1}, {}});
  SetNumber(value, 0, node.op().attr_number("value"));
  node.Give({node.Ints("shape", node.op().attr_ints("shape"))})
      .Tensor("value", value);
  return absl::OkStatus();
}

// A range of floats ends at the limit, so the limit is half a step after the
// last element. Rounded to the dtype it must still give the count.
bool FloatsGive(const HostTensor& start, const HostTensor& limit,
                const HostTensor& step, int64_t count) {
  const double given = std::ceil(
      (GetAsDouble(limit, 0) - GetAsDouble(start, 0)) / GetAsDouble(step, 0));
  return given == static_cast<double>(count);
}

HostTensor ScalarOf(DType dtype, const Number& value) {
  HostTensor tensor(TensorType{dtype, {}, {}});
  SetNumber(tensor, 0, value);
  return tensor;
}

absl::StatusOr<HostTensor> LimitOf(NodeExport& node, const Number& start,
                                   const Number& step) {
  const DType dtype = node.op().attr_dtype("dtype");
  const int64_t count = node.op().attr_int("count");
  const auto refusal = [&] {
    return node.Unsupported(
        absl::StrCat(count, " elements from ", NumberText(start), " by ",
                     NumberText(step)),
        absl::StrCat("a range that ", DTypeName(dtype), " can end"));
  };
  if (IsFloat(dtype)) {
    const double end = static_cast<double>(count) - (count > 0 ? 0.5 : 0);
    HostTensor limit =
        ScalarOf(dtype, Number(start.ToDouble() + end * step.ToDouble()));
    if (step.ToDouble() == 0 || !FloatsGive(ScalarOf(dtype, start), limit,
                                            ScalarOf(dtype, step), count)) {
      return refusal();
    }
    return limit;
  }
  int64_t limit = 0;
  if (step.To<int64_t>() == 0 ||
      __builtin_mul_overflow(count, step.To<int64_t>(), &limit) ||
      __builtin_add_overflow(limit, start.To<int64_t>(), &limit) ||
      !Holds(dtype, Number(limit))) {
    return refusal();
  }
  return ScalarOf(dtype, Number(limit));
}

absl::Status Iota(NodeExport& node) {
  const DType dtype = node.op().attr_dtype("dtype");
  const Number start = node.op().attr_number("start");
  const Number step = node.op().attr_number("step");
  absl::StatusOr<HostTensor> limit = LimitOf(node, start, step);
  if (!limit.ok()) return limit.status();
  node.Give({node.Scalar("start", dtype, start),
             node.Constant("limit", *std::move(limit)),
             node.Scalar("delta", dtype, step)});
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {
    {&kFill, "ConstantOfShape", Fill},
    {&kIota, "Range", Iota},
};

}  // namespace

extern constinit const ExportFamily kSourceExports = {kRows};

}  // namespace partita
