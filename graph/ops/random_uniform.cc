// Random numbers as a function of seed, step, op id and the element's index in
// the whole tensor. They do not depend on placement, shards or micro-batches.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/philox.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

constexpr int64_t kMaxId = (int64_t{1} << 32) - 1;

// The extents of the whole tensor; the result is a shard of it that begins at
// `origin`. Default: the result is the whole tensor.
Shape WholeOf(const OpView& op) {
  const std::vector<int64_t>& whole = op.attr_ints("whole");
  return ToShape(whole.empty() ? op.attr_ints("shape") : whole);
}
Shape OriginOf(const OpView& op) {
  const std::vector<int64_t>& origin = op.attr_ints("origin");
  return origin.empty() ? Shape(op.attr_ints("shape").size(), 0)
                        : ToShape(origin);
}

absl::Status CheckShard(const OpView& op, const TensorType& result) {
  const std::vector<int64_t>& advance = op.attr_ints("advance");
  const bool negative =
      absl::c_any_of(advance, [](int64_t extent) { return extent < 0; });
  if (negative || (!advance.empty() && advance.size() != result.dims.size())) {
    return BadOp(
        op, absl::StrCat("advance = [", absl::StrJoin(advance, ", "), "]"),
        absl::StrCat("an extent for each of ", result.rank(), " dimensions"),
        "correct advance, or leave it out");
  }
  PARTITA_RETURN_IF_ERROR(CheckType({result.dtype, WholeOf(op), {}}));
  const Shape whole = WholeOf(op);
  const Shape origin = OriginOf(op);
  bool fits =
      whole.size() == result.dims.size() && origin.size() == result.dims.size();
  for (size_t d = 0; fits && d < whole.size(); ++d) {
    fits = origin[d] >= 0 && origin[d] <= whole[d] - result.dims[d];
  }
  if (fits) return absl::OkStatus();
  return BadOp(op, absl::StrCat("a shard ", result.ToString()),
               "a shard inside the whole tensor",
               "correct whole and origin, or leave both out");
}

absl::Status Infer(const OpView& op, Types& results) {
  for (int i = 0; i < 2; ++i) {
    PARTITA_RETURN_IF_ERROR(ExpectDType(op, i, kUnsigned));
    PARTITA_RETURN_IF_ERROR(ExpectDims(op, i, {}));
  }
  const int64_t id = op.attr_int("id");
  if (id < 0 || id > kMaxId) {
    return BadOp(op, absl::StrCat("id ", id), absl::StrCat("0..", kMaxId),
                 "number the random ops of a module from 0");
  }
  const TensorType type = {DType::kF32, ToShape(op.attr_ints("shape")), {}};
  PARTITA_RETURN_IF_ERROR(results.Set(0, type));
  return CheckShard(op, type);
}

uint64_t Word(const HostTensor& scalar) {
  return static_cast<uint64_t>(ToInt64s(scalar)[0]);
}

// 24 bits, which a float represents exactly.
float UnitOf(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

// The words of one seed, step and op, by position. One call of Philox makes
// four.
class Words {
 public:
  Words(uint64_t seed, uint64_t step, int64_t id)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        step_(static_cast<uint32_t>(step)),
        id_(static_cast<uint32_t>(id)) {}

  uint32_t At(uint64_t index) {
    if (index / 4 != block_) {
      block_ = index / 4;
      words_ = Philox({static_cast<uint32_t>(block_),
                       static_cast<uint32_t>(block_ >> 32), step_, id_},
                      key_);
    }
    return words_[index % 4];
  }

 private:
  const std::array<uint32_t, 2> key_;
  const uint32_t step_;
  const uint32_t id_;
  uint64_t block_ = ~uint64_t{0};  // none
  std::array<uint32_t, 4> words_ = {};
};

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  Words words(Word(in[0]), Word(in[1]), op.attr_int("id"));
  const Shape strides = RowMajorStrides(WholeOf(op));
  const Shape origin = OriginOf(op);
  int64_t first = 0;
  for (size_t d = 0; d < origin.size(); ++d) first += origin[d] * strides[d];
  float* y = reinterpret_cast<float*>(out[0].bytes());
  ForEachOffset<1>(out[0].type().dims, {strides},
                   [&](const std::array<int64_t, 1>& at) {
                     *y++ = UnitOf(words.At(first + at[0]));
                   });
  return absl::OkStatus();
}

// Ten rounds of a dozen operations make four numbers.
Cost EstimateCost(const OpView& op) {
  const TensorType y = op.result_type(0).RowMajor();
  return {.flops = 30.0 * y.num_elements(), .bytes = 1.0 * y.num_bytes()};
}

void ShardAttributes(const OpView& op, int factor, int64_t begin, int64_t end,
                     Attributes& attributes) {
  const int dim = ResultDimension(op, factor);
  const Shape whole = WholeOf(op);
  const Shape start = OriginOf(op);
  std::vector<int64_t> shape = op.attr_ints("shape");
  std::vector<int64_t> origin(start.begin(), start.end());
  shape[dim] = end - begin;
  origin[dim] += begin;
  attributes.Set("shape", shape);
  attributes.Set("origin", origin);
  attributes.Set("whole", std::vector<int64_t>(whole.begin(), whole.end()));
}

std::vector<OpSample> Samples() {
  const SampleOperand word = {DType::kU64, {}, 0, 1e6};
  return {
      {{word, word}, {{"shape", Ints{3, 5, 7}}, {"id", 4}}},
      {{word, word},
       {{"shape", Ints{3, 5}},
        {"id", 4},
        {"whole", Ints{9, 7}},
        {"origin", Ints{6, 1}}}},
  };
}

}  // namespace

extern constinit const OpDef kRandomUniform = {
    .name = "random_uniform",
    .doc =
        "Numbers from 0 up to but not 1, by Philox4x32-10 of the seed, the "
        "step (its low 32 bits), the op's id and each element's index in the "
        "whole tensor. The result may be a shard of it, at origin + m * "
        "advance in micro-batch m.",
    .operands = {{{"seed"}, {"step"}}},
    .attrs = {{RequiredAttr("shape", AttributeKind::kInts),
               RequiredAttr("id", AttributeKind::kInt), IntsAttr("whole"),
               IntsAttr("origin"), IntsAttr("advance")}},
    .traits = {.random = true},
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "for integers and bools only",
    .cost = EstimateCost,
    .dimension_rule = BroadcastRule,
    .shard_attributes = ShardAttributes,
    .samples = Samples,
};

}  // namespace partita
