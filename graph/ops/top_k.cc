// Top-k: the k greatest or least elements along an axis, in order.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  TensorType type = op.operand_type(0).RowMajor();
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", type.rank()));
  int64_t& extent = type.dims[AxisOf(op)];
  const int64_t k = op.attr_int("k");
  if (k < 0 || k > extent) {
    return BadExtents(
        op, absl::StrCat("k ", k),
        absl::StrCat("0..", extent, ", the extent of dimension ", AxisOf(op)),
        "correct k or axis");
  }
  extent = k;
  PARTITA_RETURN_IF_ERROR(results.Set(0, type));
  return results.Set(1, {DType::kI64, type.dims, {}});
}

// True if a comes before b: by value (a NaN counts as the greatest), then by
// position.
template <typename E>
struct Order {
  bool Greater(E a, E b) const {
    if (a != a || b != b) return a != a && b == b;
    return a > b;
  }
  bool operator()(int64_t a, int64_t b) const {
    const E x = values[a];
    const E y = values[b];
    if (Greater(x, y)) return largest;
    if (Greater(y, x)) return !largest;
    return a < b;
  }
  const std::vector<E>& values;
  bool largest;
};

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const AxisLines lines(in[0].type().dims, AxisOf(op));
  const int64_t k = op.attr_int("k");
  const bool largest = op.attr_bool("largest");
  if (out[0].type().num_elements() == 0) return absl::OkStatus();
  int64_t* indices = reinterpret_cast<int64_t*>(out[1].bytes());
  VisitDType(in[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    using E = Exact<T>;
    const T* x = reinterpret_cast<const T*>(in[0].bytes());
    T* y = reinterpret_cast<T*>(out[0].bytes());
    std::vector<E> values(lines.extent);
    std::vector<int64_t> order(lines.extent);
    lines.ForEach([&](int64_t at) {
      for (int64_t i = 0; i < lines.extent; ++i) {
        values[i] = static_cast<E>(x[at + i * lines.inner]);
      }
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(),
                        Order<E>{values, largest});
      // The result's line starts at the same (outer, inner).
      const int64_t outer = at / (lines.extent * lines.inner);
      const int64_t start = outer * k * lines.inner + at % lines.inner;
      for (int64_t i = 0; i < k; ++i) {
        y[start + i * lines.inner] = x[at + order[i] * lines.inner];
        indices[start + i * lines.inner] = order[i];
      }
    });
  });
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const TensorType x = op.operand_type(0).RowMajor();
  const double depth = std::log2(2.0 + static_cast<double>(op.attr_int("k")));
  return {.flops = depth * x.num_elements(), .bytes = 2.0 * x.num_bytes()};
}

DimensionRule Rule(const OpView& op) { return AlongAxisRule(op, AxisOf(op)); }

// Each gradient goes back to the element's position.
absl::Status Gradient(GradBuilder& b) {
  const int64_t axis = AxisOf(b.op());
  const Term zeros = b.Filled(b.operand(0).type(), 0);
  b.Yield(0, Apply(kScatterElements, {zeros, b.result(1), b.grad(0)},
                   {{"axis", axis}, {"reduction", "add"}}));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({4, 7, 3})}, {{"k", 3}, {"axis", 1}}},
      {{I32({4, 7}, 0, 3)}, {{"k", 5}, {"largest", false}}},
  };
}

}  // namespace

extern constinit const OpDef kTopK = {
    .name = "top_k",
    .doc =
        "The k greatest (or least) elements along an axis in order, and their "
        "positions; equal elements stay in order.",
    .operands = {{{"x"}}},
    .num_results = 2,
    .attrs = {{RequiredAttr("k", AttributeKind::kInt), IntAttr("axis", -1),
               BoolAttr("largest", true)}},
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
