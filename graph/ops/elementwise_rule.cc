// The rule that keeps every dimension.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/elementwise_rule.h"

#include "absl/strings/str_cat.h"

namespace partita {

DimensionRule SameDimensionsRule(const OpView& op) {
  DimensionRule rule;
  DimensionRule::Dims dims;
  for (int64_t extent : op.operand_type(0).dims) {
    dims.push_back({static_cast<int>(rule.factors.size())});
    rule.factors.push_back(
        {.name = absl::StrCat("d", rule.factors.size()), .size = extent});
  }
  rule.operands = {dims};
  rule.results = {dims};
  return rule;
}

}  // namespace partita
