// Queries of dimension rules.
// SPDX-License-Identifier: Apache-2.0

#include "graph/dimension_rule.h"

#include <algorithm>

namespace partita {
namespace {

// The product of the inner factors: the number of indices of the dimension for
// one index of the outermost factor.
int64_t InnerExtent(const DimensionRule& rule,
                    const absl::InlinedVector<int, 2>& product) {
  int64_t inner = 1;
  for (size_t k = 1; k < product.size(); ++k) {
    inner *= rule.factors[product[k]].size;
  }
  return inner;
}

// True if every rank's interval of the value, in units of `unit`, begins and
// ends with an interval of the factor, in units of `unit / inner` if that is
// whole, otherwise of 1. Takes the same time for any number of ranks.
bool SameIntervals(int64_t factor, int64_t inner, int64_t unit, int ranks) {
  if (unit % inner == 0) return true;  // as many units, of equal extents
  // Otherwise an uneven split would differ. Let n and m be the numbers of
  // units. The first intervals, of floor(n / ranks) and floor(m / ranks) units,
  // and the last ones, of ceil(n / ranks) and ceil(m / ranks), would have equal
  // extents, and so would their differences: one unit of each, or of one of
  // the two only.
  const int64_t extent = factor * inner;
  return extent % unit == 0 && factor % ranks == 0 &&
         extent / unit % ranks == 0;
}

}  // namespace

std::optional<FactorSharding> FactorShardingOf(const DimensionRule& rule,
                                               const DimensionRule::Dims& dims,
                                               const Sharding& split,
                                               int ranks) {
  if (split.kind != Sharding::Kind::kSplit || split.dim < 0 ||
      split.dim >= static_cast<int>(dims.size()) || dims[split.dim].empty()) {
    return std::nullopt;
  }
  const auto& product = dims[split.dim];
  const Factor& factor = rule.factors[product.front()];
  const int64_t inner = InnerExtent(rule, product);
  if (inner == 0) return std::nullopt;
  if (!SameIntervals(factor.size, inner, split.unit, std::max(1, ranks))) {
    return std::nullopt;
  }
  const bool whole_units = split.unit % inner == 0;
  return FactorSharding{product.front(), whole_units ? split.unit / inner : 1};
}

std::optional<FactorSharding> FactorShardingOfNode(const DimensionRule& rule,
                                                   const Placement& placement) {
  const int ranks = static_cast<int>(placement.devices.size());
  const auto find = [&](const std::vector<Sharding>& shardings,
                        const std::vector<DimensionRule::Dims>& values) {
    std::optional<FactorSharding> sharding;
    for (size_t i = 0; i < shardings.size() && i < values.size(); ++i) {
      sharding = FactorShardingOf(rule, values[i], shardings[i], ranks);
      if (sharding.has_value()) break;
    }
    return sharding;
  };
  const std::optional<FactorSharding> sharding =
      find(placement.results, rule.results);
  return sharding.has_value() ? sharding
                              : find(placement.operands, rule.operands);
}

Sharding ShardingUnder(const DimensionRule& rule,
                       const DimensionRule::Dims& dims,
                       const FactorSharding& sharding, int ranks) {
  const int dim = DimensionOf(dims, sharding.factor);
  if (dim < 0) return {};
  Sharding split{.kind = Sharding::Kind::kSplit, .dim = dim};
  const bool even =
      rule.factors[sharding.factor].size / sharding.unit % ranks == 0;
  if (!even) split.unit = sharding.unit * InnerExtent(rule, dims[dim]);
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
