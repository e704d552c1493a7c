// Accumulate: the sum of a value over the micro-batches of a step.
// SPDX-License-Identifier: Apache-2.0

#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/number.h"
#include "graph/ops/elementwise_rule.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType x = op.operand_type(0).RowMajor();
  if (x.dtype == DType::kBool) {
    return BadOp(op, x.ToString(), "numbers", "cast it before it is summed");
  }
  const int64_t micro_batches = op.attr_int("micro_batches");
  if (micro_batches < 2) {
    return BadOp(op, absl::StrCat("micro_batches = ", micro_batches),
                 "2 or more", "leave the node out: one is its own sum");
  }
  if (op.num_operands() > 1 && op.operand_type(1).RowMajor() != x) {
    return BadOp(op, absl::StrCat("a sum ", op.operand_type(1).ToString()),
                 x.ToString(), "give the sum the type of what is added");
  }
  return results.Set(0, x);
}

// Operands: x, or x and the sum so far.
template <typename W>
W Sum(absl::Span<const W> x, const OpView&) {
  return x.size() == 1 ? x[0] : x[1] + x[0];
}
// Signed sums wrap: they are computed as unsigned.
int64_t WrappedSum(absl::Span<const int64_t> x, const OpView&) {
  uint64_t sum = 0;
  for (int64_t summand : x) sum += static_cast<uint64_t>(summand);
  return static_cast<int64_t>(sum);
}

constexpr ScalarFunction kSum = {.on_double = Sum<double>,
                                 .on_int = WrappedSum,
                                 .on_uint = Sum<uint64_t>,
                                 .keeps_zero = true};

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    using W = std::conditional_t<kIsFloat<T>, double, uint64_t>;
    T* y = reinterpret_cast<T*>(out[0].bytes());
    std::vector<W> summands(in.size());
    for (int64_t i = 0; i < out[0].type().num_elements(); ++i) {
      for (size_t k = 0; k < in.size(); ++k) {
        summands[k] =
            static_cast<W>(reinterpret_cast<const T*>(in[k].bytes())[i]);
      }
      y[i] = static_cast<T>(Sum<W>(summands, op));
    }
  });
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const TensorType x = op.operand_type(0).RowMajor();
  return {.flops = 1.0 * x.num_elements(), .bytes = 3.0 * x.num_bytes()};
}

DimensionRule Rule(const OpView& op) {
  DimensionRule rule = SameDimensionsRule(op);
  rule.operands.resize(op.num_operands(), rule.operands[0]);
  return rule;
}

std::vector<OpSample> Samples() {
  return {
      {{F32({4, 5})}, {{"micro_batches", 2}}},
      {{F32({4, 5}), F32({4, 5})}, {{"micro_batches", 3}}},
      {{I32({4, 5}), I32({4, 5})}, {{"micro_batches", 3}}},
  };
}

}  // namespace

// A node of a placed graph has one operand. Its instance in every micro-batch
// after the first has two (graph/shard.h): the sum so far is the second.
extern constinit const OpDef kAccumulate = {
    .name = "accumulate",
    .doc =
        "The sum of x over the micro-batches of a step, added in order; with a "
        "sum so far, that sum plus x.",
    .operands = {{{"x"}, {"sum", kOptional}}},
    .attrs = {{RequiredAttr("micro_batches", AttributeKind::kInt)}},
    .tolerance = Tolerance::kRounding,
    .traits = {.elementwise = true, .placed_only = true, .keeps_layout = true},
    .scalar = &kSum,
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "inserted by passes, after gradients are built",
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
