// Building of dimension rules.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/rule_builder.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

void WholeWhereInner(const std::vector<DimensionRule::Dims>& values,
                     std::vector<Factor>& factors) {
  for (const DimensionRule::Dims& dims : values) {
    for (const auto& list : dims) {
      for (size_t i = 1; i < list.size(); ++i) {
        factors[list[i]].kind = Factor::Kind::kWhole;
      }
    }
  }
}

}  // namespace

RuleBuilder::RuleBuilder(const OpView& op) : op_(op) {
  for (int i = 0; i < op.num_operands(); ++i) {
    rule_.operands.emplace_back(op.operand_type(i).rank());
  }
  for (int i = 0; i < op.num_results(); ++i) {
    rule_.results.emplace_back(op.result_type(i).rank());
  }
}

int RuleBuilder::Add(Factor factor) {
  rule_.factors.push_back(std::move(factor));
  return static_cast<int>(rule_.factors.size()) - 1;
}

int RuleBuilder::Kept(std::string name, int64_t size) {
  return size == 1 ? -1 : Add({std::move(name), size, Factor::Kind::kKept});
}

int RuleBuilder::Reduced(std::string name, int64_t size, Reduction reduction) {
  if (size == 1) return -1;
  return Add({std::move(name), size, Factor::Kind::kReduced, reduction});
}

int RuleBuilder::Whole(std::string name, int64_t size) {
  return size == 1 ? -1 : Add({std::move(name), size, Factor::Kind::kWhole});
}

int RuleBuilder::Halo(std::string name, int64_t size, int64_t stride,
                      int64_t before, int64_t after) {
  return Add({std::move(name), size, Factor::Kind::kHalo, Reduction::kSum,
              stride, before, after});
}

RuleBuilder& RuleBuilder::Operand(int operand, int dim, int factor) {
  if (factor >= 0) rule_.operands[operand][dim].push_back(factor);
  return *this;
}

RuleBuilder& RuleBuilder::Result(int result, int dim, int factor) {
  if (factor >= 0) rule_.results[result][dim].push_back(factor);
  return *this;
}

void RuleBuilder::Keep(std::string name, int dim, int result_dim) {
  const int factor = Kept(std::move(name), op_.operand_type(0).dims[dim]);
  Operand(0, dim, factor).Result(0, result_dim, factor);
}

void RuleBuilder::FillWhole(const std::string& prefix, const TensorType& type,
                            DimensionRule::Dims& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].empty() || type.dims[i] == 1) continue;
    dims[i].push_back(Whole(absl::StrCat(prefix, i), type.dims[i]));
  }
}

DimensionRule RuleBuilder::Finish() {
  WholeWhereInner(rule_.operands, rule_.factors);
  WholeWhereInner(rule_.results, rule_.factors);
  for (size_t i = 0; i < rule_.operands.size(); ++i) {
    FillWhole(absl::StrCat("x", i, "_"), op_.operand_type(i),
              rule_.operands[i]);
  }
  for (size_t i = 0; i < rule_.results.size(); ++i) {
    FillWhole(absl::StrCat("y", i, "_"), op_.result_type(i), rule_.results[i]);
  }
  return std::move(rule_);
}

DimensionRule BroadcastRule(const OpView& op) {
  RuleBuilder rule(op);
  const Shape& dims = op.result_type(0).dims;
  for (int d = 0; d < op.result_type(0).rank(); ++d) {
    const int factor = rule.Kept(absl::StrCat("d", d), dims[d]);
    rule.Result(0, d, factor);
    for (int i = 0; i < op.num_operands(); ++i) {
      const TensorType& x = op.operand_type(i);
      const int own = d - (op.result_type(0).rank() - x.rank());
      if (own >= 0 && x.dims[own] == dims[d]) rule.Operand(i, own, factor);
    }
  }
  return rule.Finish();
}

DimensionRule AlongAxisRule(const OpView& op, int axis) {
  RuleBuilder rule(op);
  const TensorType& x = op.operand_type(0);
  for (int d = 0; d < x.rank(); ++d) {
    if (d == axis) continue;
    const int factor = rule.Kept(absl::StrCat("d", d), x.dims[d]);
    rule.Operand(0, d, factor);
    for (int i = 0; i < op.num_results(); ++i) rule.Result(i, d, factor);
  }
  return rule.Finish();
}

int ResultDimension(const OpView& op, int factor) {
  return DimensionOf(op.op().dimension_rule(op).results[0], factor);
}

void ShardShape(const OpView& op, int factor, int64_t begin, int64_t end,
                Attributes& attributes) {
  std::vector<int64_t> shape = op.attr_ints("shape");
  shape[ResultDimension(op, factor)] = end - begin;
  attributes.Set("shape", shape);
}

void ShardGroups(const OpView& op, int factor, int64_t begin, int64_t end,
                 Attributes& attributes) {
  if (op.op().dimension_rule(op).factors[factor].name != "g") return;
  attributes.Set("groups", end - begin);
}

}  // namespace partita
