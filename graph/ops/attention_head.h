// Shared by attention and its gradient: operand checks, the softmax of one
// query's scores, and dimension names.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_ATTENTION_HEAD_H_
#define PARTITA_GRAPH_OPS_ATTENTION_HEAD_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "graph/op_def.h"
#include "graph/ops/attention_dims.h"
#include "graph/ops/rule_builder.h"

namespace partita {

// The attributes of both ops.
inline constexpr std::array<AttrDef, kMaxAttrDefs> kAttentionAttrs = {
    {RequiredAttr("scale", AttributeKind::kFloat), BoolAttr("causal", false),
     IntAttr("past", 0), FloatAttr("softcap", 0), BoolAttr("zero_blind", false),
     BoolAttr("positions_first", false)}};

// Checks operands 0 to 2 and the optional mask. Their extents then fit
// AttentionDims.
absl::Status CheckAttention(const OpView& op, int mask_operand);

// Floating-point operations. Each pair of a query and a visible key takes this
// many vector products of either size, and a softmax.
double AttentionFlops(const OpView& op, int products, int value_products);

// A tensor [samples, heads, positions, size], or with positions first, as
// doubles.
struct HeadRows {
  HeadRows(std::vector<double>& values, const AttentionStrides& strides)
      : first(values.data()), strides(strides) {}
  double* At(int64_t sample, int64_t head, int64_t position) const {
    return first + sample * strides.sample + head * strides.head +
           position * strides.position;
  }

  double* first;
  AttentionStrides strides;
};

// One query and its scores.
class AttentionScores {
 public:
  // `mask` may be empty.
  AttentionScores(const OpView& op, int mask_operand, std::vector<double> mask);

  const AttentionDims& dims() const { return dims_; }
  // The softmax weight of each visible key. If `slopes` is not null, it gets
  // the derivatives of scores with respect to products of query and key.
  std::vector<double> Weights(int64_t sample, int64_t head, int64_t query,
                              const HeadRows& q, const HeadRows& k,
                              std::vector<double>* slopes) const;

 private:
  double Score(double product, double* slope) const;
  double MaskAt(int64_t sample, int64_t head, int64_t query, int64_t key) const;

  AttentionDims dims_;
  double scale_;
  double softcap_;
  bool zero_blind_;
  std::vector<double> mask_;
  MaskStrides strides_;
};

// The factors of queries, keys, values and results.
struct AttentionFactors {
  // With `whole_group`, query heads of one key head stay together.
  AttentionFactors(RuleBuilder& rule, const OpView& op, bool whole_group);

  // Operands 0 to 2 and the mask.
  void AddOperands(RuleBuilder& rule, const OpView& op, int mask_operand) const;
  void AddQueries(RuleBuilder& rule, int operand) const;
  void AddQueryResult(RuleBuilder& rule, int result) const;
  void AddKeyResult(RuleBuilder& rule, int result) const;

  int samples;
  int heads;  // of keys and values
  int group;
  int heads_dim;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_ATTENTION_HEAD_H_
