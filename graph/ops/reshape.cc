// Reshape: the same elements in the same order, with other extents.
// SPDX-License-Identifier: Apache-2.0

#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType type = {
      op.operand_type(0).dtype, ToShape(op.attr_ints("shape")), {}};
  PARTITA_RETURN_IF_ERROR(results.Set(0, type));
  const int64_t wanted = op.operand_type(0).num_elements();
  if (type.num_elements() == wanted) return absl::OkStatus();
  return BadExtents(op,
                    absl::StrCat("shape = [", absl::StrJoin(type.dims, ", "),
                                 "] for ", Describe(op, 0)),
                    absl::StrCat("extents whose product is ", wanted),
                    "correct the shape");
}

std::vector<StridedMove> MovesOf(const OpView& op) {
  return {{.dims = {op.result_type(0).num_elements()},
           .from_strides = {1},
           .to_strides = {1}}};
}

// Walks the extents of both sides, outermost first, and finds common factors.
class SharedFactors {
 public:
  explicit SharedFactors(const OpView& op)
      : rule_(op),
        from_(op.operand_type(0).dims),
        to_(op.result_type(0).dims) {}

  // Divides a dimension's extent by the factors found so far. If neither side
  // divides the other, their common divisor may still be split; the rest, up to
  // the next common boundary, is whole.
  DimensionRule Compute() {
    while (Open(from_, i_) && Open(to_, j_)) {
      if (from_[i_] == 1 || to_[j_] == 1) {
        i_ += from_[i_] == 1;
        j_ += to_[j_] == 1;
        continue;
      }
      const int64_t shared = std::gcd(from_[i_], to_[j_]);
      const bool divides = shared == from_[i_] || shared == to_[j_];
      if (shared > 1) Take(shared);
      if (!divides) SkipToBoundary();
    }
    return rule_.Finish();
  }

 private:
  static bool Open(const Shape& dims, size_t at) { return at < dims.size(); }

  void Take(int64_t size) {
    const int factor = rule_.Kept(absl::StrCat("f", count_++), size);
    rule_.Operand(0, static_cast<int>(i_), factor);
    rule_.Result(0, static_cast<int>(j_), factor);
    from_[i_] /= size;
    to_[j_] /= size;
  }

  void SkipToBoundary() {
    int64_t left = from_[i_];
    int64_t right = to_[j_];
    WholeOperand();
    WholeResult();
    while (left != right) {
      if (left < right) {
        left *= from_[i_];
        WholeOperand();
      } else {
        right *= to_[j_];
        WholeResult();
      }
    }
  }
  void WholeOperand() {
    const int factor = rule_.Whole(absl::StrCat("f", count_++), from_[i_]);
    rule_.Operand(0, static_cast<int>(i_++), factor);
  }
  void WholeResult() {
    const int factor = rule_.Whole(absl::StrCat("f", count_++), to_[j_]);
    rule_.Result(0, static_cast<int>(j_++), factor);
  }

  RuleBuilder rule_;
  Shape from_;
  Shape to_;
  size_t i_ = 0;
  size_t j_ = 0;
  int count_ = 0;
};

DimensionRule Rule(const OpView& op) {
  if (op.result_type(0).num_elements() == 0) return WholeRule(op);
  return SharedFactors(op).Compute();
}

void ShardAttributes(const OpView& op, int factor, int64_t begin, int64_t end,
                     Attributes& attributes) {
  const int64_t size = Rule(op).factors[factor].size;
  std::vector<int64_t> shape = op.attr_ints("shape");
  int64_t& dim = shape[ResultDimension(op, factor)];
  dim = dim / size * (end - begin);
  attributes.Set("shape", shape);
}

absl::Status Gradient(GradBuilder& b) {
  b.Yield(0, ReshapeTo(b.grad(0), b.operand(0).dims()));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({6, 4, 5})}, {{"shape", Ints{24, 5}}}},
      {{F32({24, 5})}, {{"shape", Ints{4, 6, 1, 5}}}},
      {{F32({4, 6, 5})}, {{"shape", Ints{6, 4, 5}}}},
      {{F32({4, 5, 6})}, {{"shape", Ints{2, 10, 6}}}},
      {{F32({0, 3})}, {{"shape", Ints{5, 0}}}},
  };
}

}  // namespace

extern constinit const OpDef kReshape = {
    .name = "reshape",
    .doc = "The same elements in the same order, with the extents of shape.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("shape", AttributeKind::kInts)}},
    .infer = Infer,
    .eval = EvaluateMoves<MovesOf>,
    .gradient = Gradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .shard_attributes = ShardAttributes,
    .moves = MovesAsBytes<MovesOf>,
    .samples = Samples,
};

}  // namespace partita
