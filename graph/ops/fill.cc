// Fill and iota: tensors that attributes alone define.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/arithmetic.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"

namespace partita {
namespace {

absl::Status InferFill(const OpView& op, Types& results) {
  return results.Set(
      0, {op.attr_dtype("dtype"), ToShape(op.attr_ints("shape")), {}});
}

absl::Status InferIota(const OpView& op, Types& results) {
  return results.Set(0, {op.attr_dtype("dtype"), {op.attr_int("count")}, {}});
}

absl::Status EvaluateFill(const OpView& op, absl::Span<const HostTensor>,
                          absl::Span<HostTensor> out) {
  VisitDType(out[0].type().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T value = Narrow<T>(op.attr_float("value"));
    for (T& element : out[0].data<T>()) element = value;
  });
  return absl::OkStatus();
}

absl::Status EvaluateIota(const OpView& op, absl::Span<const HostTensor>,
                          absl::Span<HostTensor> out) {
  const double start = op.attr_float("start");
  const double step = op.attr_float("step");
  VisitDType(out[0].type().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    double i = 0;
    for (T& element : out[0].data<T>()) element = Narrow<T>(start + i++ * step);
  });
  return absl::OkStatus();
}

Cost WriteCost(const OpView& op) {
  return {.flops = 0, .bytes = 1.0 * op.result_type(0).RowMajor().num_bytes()};
}

void FillPiece(const OpView& op, int factor, int64_t begin, int64_t end,
               Attributes& attributes) {
  std::vector<int64_t> shape = op.attr_ints("shape");
  shape[ResultDimension(op, factor)] = end - begin;
  attributes.Set("shape", shape);
}

void IotaPiece(const OpView& op, int factor, int64_t begin, int64_t end,
               Attributes& attributes) {
  const double first = op.attr_float("start") +
                       static_cast<double>(begin) * op.attr_float("step");
  attributes.Set("start", first);
  attributes.Set("count", end - begin);
}

}  // namespace

extern constinit const OpDef kFill = {
    .name = "fill",
    .doc = "A tensor of one value.",
    .attrs = {{RequiredAttr("dtype", AttributeKind::kDType),
               RequiredAttr("shape", AttributeKind::kInts),
               FloatAttr("value", 0)}},
    .infer = InferFill,
    .eval = EvaluateFill,
    .cost = WriteCost,
    .dimension_rule = BroadcastRule,
    .piece_attributes = FillPiece,
};

extern constinit const OpDef kIota = {
    .name = "iota",
    .doc = "start, start + step, start + 2 step, ...",
    .attrs = {{RequiredAttr("dtype", AttributeKind::kDType),
               FloatAttr("start", 0), FloatAttr("step", 1),
               RequiredAttr("count", AttributeKind::kInt)}},
    .tolerance = Tolerance::kRounding,
    .infer = InferIota,
    .eval = EvaluateIota,
    .cost = WriteCost,
    .dimension_rule = BroadcastRule,
    .piece_attributes = IotaPiece,
};

}  // namespace partita
