// Computes scores in doubles, one query at a time.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/attention_head.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/ops/op_checks.h"

namespace partita {
namespace {

const char* Order(const OpView& op) {
  return op.attr_bool("positions_first") ? "[n, positions, heads, size]"
                                         : "[n, heads, positions, size]";
}

absl::Status Misfit(const OpView& op, int operand, const Shape& expected,
                    absl::string_view what) {
  return BadExtents(
      op, Describe(op, operand),
      absl::StrCat(
          TensorType{op.operand_type(0).dtype, expected, {}}.ToString(), ", ",
          what),
      absl::StrCat("reshape or transpose the operands to ", Order(op)));
}

// Checks that keys and values have equal positions and heads, and that their
// heads divide those of queries.
absl::Status CheckKeys(const OpView& op) {
  const AttentionDims d(op);
  const Shape& q = op.operand_type(0).dims;
  const Shape& k = op.operand_type(1).dims;
  const Shape& v = op.operand_type(2).dims;
  Shape expected = k;
  expected[0] = q[0];
  expected[3] = q[3];
  if (k != expected) return Misfit(op, 1, expected, "as the queries have");
  expected[3] = v[3];
  if (v != expected) return Misfit(op, 2, expected, "as the keys have");
  if (d.heads == d.kv_heads * d.group()) return absl::OkStatus();
  return BadExtents(
      op, absl::StrCat(d.kv_heads, " heads of keys"),
      absl::StrCat("a number that divides the ", d.heads, " heads of queries"),
      "repeat or leave out heads");
}

absl::Status CheckMask(const OpView& op, int operand) {
  if (operand >= op.num_operands()) return absl::OkStatus();
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, operand, 0, 4));
  const AttentionDims d(op);
  Shape scores = {d.samples, d.heads, d.queries, d.keys};
  const Shape whole = scores;
  if (BroadcastInto(op.operand_type(operand).dims, scores) && scores == whole) {
    return absl::OkStatus();
  }
  return BadExtents(
      op, Describe(op, operand),
      absl::StrCat("extents that broadcast to ",
                   TensorType{op.operand_type(0).dtype, whole, {}}.ToString(),
                   ": [n, heads, queries, keys]"),
      "expand or reshape the mask");
}

absl::Status CheckAttributes(const OpView& op) {
  if (!(op.attr_float("softcap") >= 0)) {
    return BadOp(op, absl::StrCat("softcap ", op.attr_float("softcap")),
                 "0 or more", "use 0 for none");
  }
  if (op.attr_int("past") >= 0) return absl::OkStatus();
  return BadOp(op, absl::StrCat("past ", op.attr_int("past")), "0 or more",
               "count the keys before the first query's own");
}

}  // namespace

absl::Status CheckAttention(const OpView& op, int mask_operand) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectOneDType(op));
  for (int i = 0; i < 3; ++i) {
    PARTITA_RETURN_IF_ERROR(ExpectRank(op, i, 4, 4));
  }
  PARTITA_RETURN_IF_ERROR(CheckKeys(op));
  PARTITA_RETURN_IF_ERROR(CheckMask(op, mask_operand));
  return CheckAttributes(op);
}

double AttentionFlops(const OpView& op, int products, int value_products) {
  const AttentionDims d(op);
  return d.SeenByAll() * static_cast<double>(d.samples) *
         static_cast<double>(d.heads) *
         (2.0 * products * static_cast<double>(d.size) +
          2.0 * value_products * static_cast<double>(d.value_size) + 5);
}

AttentionScores::AttentionScores(const OpView& op, int mask_operand,
                                 std::vector<double> mask)
    : dims_(op),
      scale_(op.attr_float("scale")),
      softcap_(op.attr_float("softcap")),
      zero_blind_(op.attr_bool("zero_blind")),
      mask_(std::move(mask)),
      strides_(mask_operand < op.num_operands()
                   ? op.operand_type(mask_operand).dims
                   : Shape()) {}

double AttentionScores::Score(double product, double* slope) const {
  if (softcap_ == 0) {
    *slope = scale_;
    return product * scale_;
  }
  const double capped = std::tanh(product * scale_ / softcap_);
  *slope = scale_ * (1 - capped * capped);
  return softcap_ * capped;
}

double AttentionScores::MaskAt(int64_t sample, int64_t head, int64_t query,
                               int64_t key) const {
  return mask_.empty() ? 0
                       : mask_[sample * strides_.sample + head * strides_.head +
                               query * strides_.query + key * strides_.key];
}

std::vector<double> AttentionScores::Weights(
    int64_t sample, int64_t head, int64_t query, const HeadRows& q,
    const HeadRows& k, std::vector<double>* slopes) const {
  std::vector<double> weights(dims_.Seen(query));
  if (slopes != nullptr) slopes->resize(weights.size());
  if (weights.empty()) return weights;
  const double* const a = q.At(sample, head, query);
  for (size_t j = 0; j < weights.size(); ++j) {
    const double* const b = k.At(sample, head / dims_.group(), j);
    double product = 0, slope = 0;
    for (int64_t i = 0; i < dims_.size; ++i) product += a[i] * b[i];
    weights[j] = Score(product, &slope) + MaskAt(sample, head, query, j);
    if (slopes != nullptr) (*slopes)[j] = slope;
  }
  const double top = *std::max_element(weights.begin(), weights.end());
  const bool blind = std::all_of(weights.begin(), weights.end(), [](double s) {
    return s == -std::numeric_limits<double>::infinity();
  });
  if (blind && zero_blind_) return std::vector<double>(weights.size(), 0);
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - top);
  for (double& weight : weights) weight /= sum;
  return weights;
}

AttentionFactors::AttentionFactors(RuleBuilder& rule, const OpView& op,
                                   bool whole_group) {
  const AttentionDims d(op);
  heads_dim = d.HeadsDim();
  samples = rule.Kept("n", d.samples);
  heads = rule.Kept("heads", d.kv_heads);
  group = whole_group ? rule.Whole("group", d.group())
                      : rule.Kept("group", d.group());
}

void AttentionFactors::AddQueries(RuleBuilder& rule, int operand) const {
  rule.Operand(operand, 0, samples);
  rule.Operand(operand, heads_dim, heads).Operand(operand, heads_dim, group);
}

void AttentionFactors::AddQueryResult(RuleBuilder& rule, int result) const {
  rule.Result(result, 0, samples);
  rule.Result(result, heads_dim, heads).Result(result, heads_dim, group);
}

void AttentionFactors::AddKeyResult(RuleBuilder& rule, int result) const {
  rule.Result(result, 0, samples).Result(result, heads_dim, heads);
}

void AttentionFactors::AddOperands(RuleBuilder& rule, const OpView& op,
                                   int mask_operand) const {
  AddQueries(rule, 0);
  for (int i : {1, 2}) {
    rule.Operand(i, 0, samples).Operand(i, heads_dim, heads);
  }
  if (mask_operand >= op.num_operands()) return;
  const Shape& mask = op.operand_type(mask_operand).dims;
  const int rank = static_cast<int>(mask.size());
  if (rank == 4 && mask[0] > 1) rule.Operand(mask_operand, 0, samples);
  if (rank < 3 || mask[rank - 3] == 1) return;
  rule.Operand(mask_operand, rank - 3, heads);
  rule.Operand(mask_operand, rank - 3, group);
}

}  // namespace partita
