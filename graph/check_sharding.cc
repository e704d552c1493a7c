// Compares shardings with an op's dimension rule.
// SPDX-License-Identifier: Apache-2.0

#include "graph/check_sharding.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/op_def.h"
#include "graph/shard.h"
#include "graph/sharding_text.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

bool HasSharded(const std::vector<Sharding>& shardings) {
  return absl::c_any_of(shardings, [](const Sharding& sharding) {
    return sharding.kind != Kind::kReplicated;
  });
}

// True if at most one dimension of the value has the factor, as its outermost.
bool MayBeSharded(const DimensionRule::Dims& dims, int factor) {
  bool seen = false;
  for (const auto& product : dims) {
    for (size_t k = 0; k < product.size(); ++k) {
      if (product[k] != factor) continue;
      if (k != 0 || seen) return false;
      seen = true;
    }
  }
  return true;
}

bool OperandsFollow(const Placement& placement, const DimensionRule& rule,
                    const FactorSharding& sharding) {
  const int ranks = static_cast<int>(placement.devices.size());
  for (size_t i = 0; i < rule.operands.size(); ++i) {
    const DimensionRule::Dims& dims = rule.operands[i];
    const Sharding found = ShardingOf(placement.operands, static_cast<int>(i));
    if (!MayBeSharded(dims, sharding.factor) ||
        ShardingUnder(rule, dims, sharding, ranks) != found) {
      return false;
    }
  }
  return true;
}

bool ResultsFollow(const Placement& placement, const DimensionRule& rule,
                   const FactorSharding& sharding) {
  const int ranks = static_cast<int>(placement.devices.size());
  const Factor& factor = rule.factors[sharding.factor];
  const bool reduced = factor.kind == Factor::Kind::kReduced;
  for (size_t i = 0; i < rule.results.size(); ++i) {
    const DimensionRule::Dims& dims = rule.results[i];
    if (!MayBeSharded(dims, sharding.factor)) return false;
    Sharding expected = ShardingUnder(rule, dims, sharding, ranks);
    const bool has_factor = expected.kind == Kind::kSplit;
    if (has_factor == reduced) return false;
    if (reduced) expected = {Kind::kPartial, 0, factor.reduction};
    const Sharding found = ShardingOf(placement.results, static_cast<int>(i));
    if (expected != found) return false;
  }
  return true;
}

// The factor sharding of the placement, if the rule allows it.
std::optional<FactorSharding> AllowedSharding(const DimensionRule& rule,
                                              const Placement& placement) {
  const std::optional<FactorSharding> sharding =
      FactorShardingOfNode(rule, placement);
  if (!sharding.has_value()) return std::nullopt;
  const Factor::Kind kind = rule.factors[sharding->factor].kind;
  const bool may_be_sharded =
      kind == Factor::Kind::kKept || kind == Factor::Kind::kReduced;
  if (!may_be_sharded || !OperandsFollow(placement, rule, *sharding) ||
      !ResultsFollow(placement, rule, *sharding)) {
    return std::nullopt;
  }
  return sharding;
}

// The placement with its values sharded along the factor.
Placement PlacementUnder(const DimensionRule& rule,
                         const FactorSharding& sharding, Placement placement) {
  const int ranks = static_cast<int>(placement.devices.size());
  const auto under = [&](const std::vector<DimensionRule::Dims>& values) {
    std::vector<Sharding> shardings;
    for (const DimensionRule::Dims& dims : values) {
      shardings.push_back(ShardingUnder(rule, dims, sharding, ranks));
    }
    return shardings;
  };
  placement.operands = under(rule.operands);
  placement.results = under(rule.results);
  const Factor& factor = rule.factors[sharding.factor];
  if (factor.kind == Factor::Kind::kReduced) {
    placement.results.assign(rule.results.size(),
                             {Kind::kPartial, 0, factor.reduction});
  }
  return placement;
}

// The factor shardings of the node's values, then each factor with unit 1.
std::vector<FactorSharding> ShardingsToReport(const DimensionRule& rule,
                                              const Placement& placement) {
  std::vector<FactorSharding> shardings;
  const int ranks = static_cast<int>(placement.devices.size());
  const auto add = [&](const std::vector<DimensionRule::Dims>& values,
                       const std::vector<Sharding>& found) {
    for (size_t i = 0; i < values.size(); ++i) {
      const std::optional<FactorSharding> sharding = FactorShardingOf(
          rule, values[i], ShardingOf(found, static_cast<int>(i)), ranks);
      if (sharding.has_value()) shardings.push_back(*sharding);
    }
  };
  add(rule.operands, placement.operands);
  add(rule.results, placement.results);
  for (size_t f = 0; f < rule.factors.size(); ++f) {
    shardings.push_back({static_cast<int>(f), 1});
  }
  return shardings;
}

// "(split 0, replicated) -> (split 0)", as in a plan's text.
std::string PlacementShardingsText(const OpView& node,
                                   const Placement& placement) {
  const auto list = [](const std::vector<Sharding>& shardings, int count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) {
      texts.push_back(ShardingText(ShardingOf(shardings, i)));
    }
    return absl::StrCat("(", absl::StrJoin(texts, ", "), ")");
  };
  const int operands = node.num_operands();
  return absl::StrCat(
      operands == 0 ? "" : list(placement.operands, operands) + " ", "-> ",
      list(placement.results, node.num_results()));
}

absl::Status NotAllowed(const OpView& node, const DimensionRule& rule) {
  const Placement& found = node.node().placement;
  std::vector<std::string> allowed;
  for (const FactorSharding& sharding : ShardingsToReport(rule, found)) {
    const Placement there = PlacementUnder(rule, sharding, found);
    std::string text = PlacementShardingsText(node, there);
    if (AllowedSharding(rule, there).has_value() &&
        !absl::c_linear_search(allowed, text)) {
      allowed.push_back(std::move(text));
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "found ", PlacementShardingsText(node, found), "; expected ",
      allowed.empty() ? ""
                      : absl::StrCat(absl::StrJoin(allowed, ", "), ", or "),
      "all of it on each device, as its op's dimension rule allows"));
}

TensorType RowMajorShard(const TensorType& type, const Sharding& sharding,
                         int rank, int ranks) {
  return ShardType(type.RowMajor(), sharding, rank, ranks);
}

bool SameExtents(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.dims == b.dims;
}

// Checks the types that the op infers from the rank's operands.
absl::Status InferShard(const OpView& node, const Factor& factor,
                        const FactorSharding& sharding, int rank) {
  const Placement& placement = node.node().placement;
  const int ranks = static_cast<int>(placement.devices.size());
  Graph shard("shard", &node.graph().literals());
  NodeSpec spec{.op = &node.op(), .attributes = node.node().attributes};
  for (int i = 0; i < node.num_operands(); ++i) {
    spec.operands.push_back(shard.AddInput(
        "", RowMajorShard(node.operand_type(i),
                          ShardingOf(placement.operands, i), rank, ranks)));
  }
  if (node.op().shard_attributes != nullptr) {
    const Interval interval =
        RankInterval(factor.size, sharding.unit, rank, ranks);
    node.op().shard_attributes(node, sharding.factor, interval.begin,
                               interval.end, spec.attributes);
  }
  const absl::StatusOr<NodeId> made = shard.AddNode(std::move(spec));
  if (!made.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, ": ", made.status().message()));
  }
  for (int i = 0; i < node.num_results(); ++i) {
    const TensorType expected = RowMajorShard(
        node.result_type(i), ShardingOf(placement.results, i), rank, ranks);
    const TensorType& found = shard.type(shard.node(*made).results[i]);
    if (SameExtents(found, expected)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, ": found ", found.ToString(),
                     "; expected its shard ", expected.ToString()));
  }
  return absl::OkStatus();
}

// Skips nodes with bodies: they infer from the body, which has whole extents.
absl::Status InferShards(const OpView& node, const Factor& factor,
                         const FactorSharding& sharding) {
  if (!node.node().regions.empty()) return absl::OkStatus();
  const size_t ranks = node.node().placement.devices.size();
  for (size_t m = 0; m < ranks; ++m) {
    absl::Status status =
        InferShard(node, factor, sharding, static_cast<int>(m));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

// A reorder permutes every rank's summand alike. Sums over micro-batches and
// over ranks commute.
bool PassesSummands(const OpView& node, const Placement& placement) {
  if (placement.operands.size() != 1 || placement.results.size() != 1) {
    return false;
  }
  const Sharding& summand = placement.operands[0];
  if (summand.kind != Kind::kPartial || summand != placement.results[0]) {
    return false;
  }
  return node.is(kReorder) ||
         (node.is(kAccumulate) && summand.reduction == Reduction::kSum);
}

absl::Status CheckSharding(const OpView& node) {
  const Placement& placement = node.node().placement;
  if (placement.devices.size() <= 1 ||
      (!HasSharded(placement.operands) && !HasSharded(placement.results))) {
    return absl::OkStatus();
  }
  if (PassesSummands(node, placement)) return absl::OkStatus();
  const DimensionRule rule = node.op().dimension_rule != nullptr
                                 ? node.op().dimension_rule(node)
                                 : WholeRule(node);
  const std::optional<FactorSharding> sharding =
      AllowedSharding(rule, placement);
  if (!sharding.has_value()) return NotAllowed(node, rule);
  return InferShards(node, rule.factors[sharding->factor], *sharding);
}

}  // namespace partita
