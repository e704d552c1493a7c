// What attention and its gradient share: the checks of their operands, the
// softmax of one query's scores, and the names of their dimensions.
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

// Of both ops.
inline constexpr std::array<AttrDef, kMaxAttrDefs> kAttentionAttrs = {
    {RequiredAttr("scale", AttributeKind::kFloat), BoolAttr("causal", false),
     IntAttr("past", 0), FloatAttr("softcap", 0), BoolAttr("zero_blind", false),
     BoolAttr("positions_first", false)}};

// Operands 0 to 2, and the mask where there is one; after it their extents are
// those that AttentionDims says.
absl::Status CheckAttention(const OpView& op, int mask_operand);

// Floating-point operations: per pair of a query and a key that it sees, so
// many vector products of either size, and a softmax.
double AttentionFlops(const OpView& op, int products, int value_products);

// A tensor [samples, heads, positions, size], in either order, as doubles.
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
  // `mask`: empty for none.
  AttentionScores(const OpView& op, int mask_operand, std::vector<double> mask);

  const AttentionDims& dims() const { return dims_; }
  // The share of each key that the query sees; `slopes`, if it is not null,
  // become those of scores by products of query and key.
  std::vector<double> Shares(int64_t sample, int64_t head, int64_t query,
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

// The factors that queries, keys, values and results have.
struct AttentionFactors {
  // Of heads of queries that share one of keys, all are kept together if
  // `whole_group`.
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
