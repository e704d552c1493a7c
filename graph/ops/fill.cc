// Fill and iota: tensors defined by attributes.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/ops/byte_moves.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

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
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    const T value = op.attr_number("value").To<T>();
    for (T& element : out[0].data<T>()) element = value;
  });
  return absl::OkStatus();
}

// The elements of an iota: exact and wrapping if all numbers are integers,
// otherwise computed in double.
class Progression {
 public:
  explicit Progression(const OpView& op)
      : dtype_(op.attr_dtype("dtype")),
        start_(op.attr_number("start")),
        step_(op.attr_number("step")),
        exact_(!IsFloat(dtype_) && start_.is_integer() && step_.is_integer()) {}

  // start + index * step
  Number At(int64_t index) const {
    if (!exact_) {
      return Number(start_.ToDouble() +
                    static_cast<double>(index) * step_.ToDouble());
    }
    const uint64_t bits =
        start_.ToWrapped() + static_cast<uint64_t>(index) * step_.ToWrapped();
    return IsUnsignedInteger(dtype_) ? Number(bits)
                                     : Number(static_cast<int64_t>(bits));
  }
  template <typename T>
  T ElementAt(int64_t index) const {
    const Number value = At(index);
    return exact_ ? Narrow<T>(value.ToWrapped()) : value.To<T>();
  }

 private:
  DType dtype_;
  Number start_;
  Number step_;
  bool exact_;
};

absl::Status EvaluateIota(const OpView& op, absl::Span<const HostTensor>,
                          absl::Span<HostTensor> out) {
  const Progression progression(op);
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    int64_t i = 0;
    for (T& element : out[0].data<T>()) {
      element = progression.ElementAt<T>(i++);
    }
  });
  return absl::OkStatus();
}

void IotaShard(const OpView& op, int factor, int64_t begin, int64_t end,
               Attributes& attributes) {
  attributes.Set("start", Progression(op).At(begin));
  attributes.Set("count", end - begin);
}

std::vector<OpSample> FillSamples() {
  return {
      {{},
       {{"dtype", DType::kI16}, {"shape", Ints{3, 5}}, {"value", Number(7)}}}};
}

std::vector<OpSample> IotaSamples() {
  return {
      {{},
       {{"dtype", DType::kF32},
        {"start", Number(0.5)},
        {"step", Number(0.1)},
        {"count", 7}}},
      {{},
       {{"dtype", DType::kU64},
        {"start", Number(UINT64_MAX - 2)},
        {"step", Number(INT64_MAX)},
        {"count", 7}}},
      {{}, {{"dtype", DType::kI64}, {"step", Number(-3)}, {"count", 7}}},
  };
}

}  // namespace

extern constinit const OpDef kFill = {
    .name = "fill",
    .doc = "A tensor of one value.",
    .attrs = {{RequiredAttr("dtype", AttributeKind::kDType),
               RequiredAttr("shape", AttributeKind::kInts),
               NumberAttr("value", 0)}},
    .infer = InferFill,
    .eval = EvaluateFill,
    .no_gradient = "a leaf: gradients end there",
    .cost = WriteCost,
    .dimension_rule = BroadcastRule,
    .shard_attributes = ShardShape,
    .samples = FillSamples,
};

extern constinit const OpDef kIota = {
    .name = "iota",
    .doc = "start, start + step, start + 2 step, ...; integers wrap.",
    .attrs = {{RequiredAttr("dtype", AttributeKind::kDType),
               NumberAttr("start", 0), NumberAttr("step", 1),
               RequiredAttr("count", AttributeKind::kInt)}},
    .tolerance = Tolerance::kRounding,
    .infer = InferIota,
    .eval = EvaluateIota,
    .no_gradient = "a leaf: gradients end there",
    .cost = WriteCost,
    .dimension_rule = BroadcastRule,
    .shard_attributes = IotaShard,
    .samples = IotaSamples,
};

}  // namespace partita
