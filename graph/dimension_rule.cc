// Queries of dimension rules.
// SPDX-License-Identifier: Apache-2.0

#include "graph/dimension_rule.h"

namespace partita {
namespace {

// Of the factors inside the outermost one: so many indices of the dimension
// make up one of that factor's.
int64_t InnerExtent(const DimensionRule& rule,
                    const absl::InlinedVector<int, 2>& product) {
  int64_t inner = 1;
  for (size_t k = 1; k < product.size(); ++k) {
    inner *= rule.factors[product[k]].size;
  }
  return inner;
}

bool SameShares(const Sharding& split, const Factor& factor, int64_t unit,
                int64_t inner, int members) {
  for (int m = 0; m < members; ++m) {
    const Interval of_factor = MemberShare(factor.size, unit, m, members);
    const Interval of_value =
        MemberShare(factor.size * inner, split.unit, m, members);
    if (of_value != Interval{of_factor.begin * inner, of_factor.end * inner}) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<FactorCut> CutAs(const DimensionRule& rule,
                               const DimensionRule::Dims& dims,
                               const Sharding& split, int members) {
  if (split.kind != Sharding::Kind::kSplit || split.dim < 0 ||
      split.dim >= static_cast<int>(dims.size()) || dims[split.dim].empty()) {
    return std::nullopt;
  }
  const auto& product = dims[split.dim];
  const Factor& factor = rule.factors[product.front()];
  const int64_t inner = InnerExtent(rule, product);
  if (inner == 0) return std::nullopt;
  const bool whole_units = split.unit % inner == 0;
  const FactorCut cut{product.front(), whole_units ? split.unit / inner : 1};
  if (!SameShares(split, factor, cut.unit, inner, members)) return std::nullopt;
  return cut;
}

std::optional<FactorCut> CutOfNode(const DimensionRule& rule,
                                   const Placement& placement) {
  const int members = static_cast<int>(placement.devices.size());
  const auto find = [&](const std::vector<Sharding>& shardings,
                        const std::vector<DimensionRule::Dims>& values) {
    std::optional<FactorCut> cut;
    for (size_t i = 0; i < shardings.size() && i < values.size(); ++i) {
      cut = CutAs(rule, values[i], shardings[i], members);
      if (cut.has_value()) break;
    }
    return cut;
  };
  const std::optional<FactorCut> cut = find(placement.results, rule.results);
  return cut.has_value() ? cut : find(placement.operands, rule.operands);
}

Sharding ShardingUnder(const DimensionRule& rule,
                       const DimensionRule::Dims& dims, const FactorCut& cut,
                       int members) {
  const int dim = DimensionOf(dims, cut.factor);
  if (dim < 0) return {};
  Sharding split{.kind = Sharding::Kind::kSplit, .dim = dim};
  const bool even = rule.factors[cut.factor].size / cut.unit % members == 0;
  if (!even) split.unit = cut.unit * InnerExtent(rule, dims[dim]);
  return split;
}

int DimensionOf(const DimensionRule::Dims& dims, int factor) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].empty() && dims[i].front() == factor) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace partita
