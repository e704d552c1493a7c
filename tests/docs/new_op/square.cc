// Square: the skeleton of an op, for docs/contributing/adding_an_op.md. (A real
// one would be a row of graph/ops/unary.cc.)
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/ops/elementwise_rule.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/sample_operands.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  return results.Set(0, op.operand_type(0).RowMajor());
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  std::vector<double> x = ToDoubles(in[0]);
  for (double& element : x) element *= element;
  FromDoubles(x, out[0]);
  return absl::OkStatus();
}

// dx = 2 x dy
absl::Status Gradient(GradBuilder& b) {
  b.Yield(0, b.grad(0) * b.operand(0) * 2);
  return b.status();
}

// One product for each element, which is read once and written once.
Cost EstimateCost(const OpView& op) {
  const TensorType x = op.operand_type(0).RowMajor();
  return {.flops = 1.0 * x.num_elements(), .bytes = 2.0 * x.num_bytes()};
}

std::vector<OpSample> Samples() {
  return {
      {{F32({4, 3, 5})}},
      {{{DType::kF16, {7}}}},
  };
}

}  // namespace

extern constinit const OpDef kSquare = {
    .name = "square",
    .doc = "x times x.",
    .operands = {{{"x"}}},
    .tolerance = Tolerance::kRounding,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = SameDimensionsRule,
    .samples = Samples,
};

}  // namespace partita
