// Builds a DimensionRule, dimension by dimension.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_RULE_BUILDER_H_
#define PARTITA_GRAPH_OPS_RULE_BUILDER_H_

#include <string>

#include "graph/op_def.h"

namespace partita {

// Default: dimensions are whole. A factor index of -1 (an extent of 1) is
// allowed everywhere and has no effect.
class RuleBuilder {
 public:
  explicit RuleBuilder(const OpView& op);

  int Kept(std::string name, int64_t size);
  int Reduced(std::string name, int64_t size, Reduction reduction);
  int Whole(std::string name, int64_t size);
  int Halo(std::string name, int64_t size, int64_t stride, int64_t before,
           int64_t after);

  // The next inner factor of a dimension.
  RuleBuilder& Operand(int operand, int dim, int factor);
  RuleBuilder& Result(int result, int dim, int factor);
  // A kept factor for dimension `dim` of operand 0 and `result_dim` of result
  // 0.
  void Keep(std::string name, int dim, int result_dim);

  // A factor that is not the outermost of some dimension cannot be split and
  // becomes whole.
  DimensionRule Finish();

 private:
  int Add(Factor factor);
  void FillWhole(const std::string& prefix, const TensorType& type,
                 DimensionRule::Dims& dims);
  const OpView& op_;
  DimensionRule rule_;
};

// All operands broadcast to result 0, and each of its dimensions is kept.
DimensionRule BroadcastRule(const OpView& op);
// Operand 0 and all results have the same extents except at `axis`: `axis` is
// whole, the others are kept.
DimensionRule AlongAxisRule(const OpView& op, int axis);

// The dimension of result 0 that `factor` splits, by the op's own rule.
int ResultDimension(const OpView& op, int factor);

// `shard_attributes` of an op whose attribute `shape` is that of result 0.
void ShardShape(const OpView& op, int factor, int64_t begin, int64_t end,
                Attributes& attributes);
// `shard_attributes` of an op with the attribute `groups`, which its rule's
// factor "g" splits.
void ShardGroups(const OpView& op, int factor, int64_t begin, int64_t end,
                 Attributes& attributes);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_RULE_BUILDER_H_
