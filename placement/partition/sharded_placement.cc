// Shardings that follow from a factor of the dimension rule.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/sharded_placement.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

const Sharding* FirstSplit(const std::vector<Sharding>& shardings) {
  for (const Sharding& sharding : shardings) {
    if (sharding.kind == Sharding::Kind::kSplit) return &sharding;
  }
  return nullptr;
}

// True if an operand is read as partial sums, without an all-reduce.
bool HasPartial(const std::vector<Sharding>& shardings) {
  return std::any_of(shardings.begin(), shardings.end(), [](const auto& read) {
    return read.kind == Sharding::Kind::kPartial;
  });
}

// The factor and unit that split the requested value: a result or, without one,
// an operand. Default unit: the smallest possible.
absl::StatusOr<FactorSharding> ShardingToMake(const OpView& op,
                                              const DimensionRule& rule,
                                              const Placement& wanted) {
  const bool by_result = FirstSplit(wanted.results) != nullptr;
  const auto& shardings = by_result ? wanted.results : wanted.operands;
  const Sharding& split = *FirstSplit(shardings);
  const size_t value = &split - shardings.data();
  const auto& dims = (by_result ? rule.results : rule.operands)[value];
  if (split.dim < 0 || split.dim >= static_cast<int>(dims.size())) {
    return BadOp(op, absl::StrCat("a split along dimension ", split.dim),
                 absl::StrCat("one of its ", dims.size(), " dimensions"),
                 "choose another dimension");
  }
  if (dims[split.dim].empty()) {
    return BadOp(op,
                 absl::StrCat("a split along dimension ", split.dim,
                              ", which has extent 1"),
                 "a dimension to divide", "choose another dimension");
  }
  const int ranks = static_cast<int>(wanted.devices.size());
  const std::optional<FactorSharding> sharding =
      FactorShardingOf(rule, dims, split, ranks);
  if (sharding.has_value()) return *sharding;
  if (split.unit == 1) return FactorSharding{.factor = dims[split.dim].front()};
  return BadOp(
      op,
      absl::StrCat("a split along dimension ", split.dim, " by ", split.unit),
      "a unit of whole indices of its outermost part",
      "leave the unit to the compiler");
}

// "dimension 1 of its result", or of the first operand that has the factor.
std::string FactorText(const OpView& op, const DimensionRule& rule,
                       int factor) {
  for (int i = 0; i < op.num_results(); ++i) {
    const int dim = DimensionOf(rule.results[i], factor);
    if (dim < 0) continue;
    const std::string which =
        i == 0 ? "its result" : absl::StrCat("result ", i);
    return absl::StrCat("dimension ", dim, " of ", which);
  }
  for (int i = 0; i < op.num_operands(); ++i) {
    const int dim = DimensionOf(rule.operands[i], factor);
    if (dim >= 0) return absl::StrCat("dimension ", dim, " of operand ", i);
  }
  return "a dimension inside another one";
}

absl::Status CheckKind(const OpView& op, const DimensionRule& rule,
                       int factor) {
  const Factor::Kind kind = rule.factors[factor].kind;
  if (kind == Factor::Kind::kKept || kind == Factor::Kind::kReduced) {
    return absl::OkStatus();
  }
  return BadOp(op,
               absl::StrCat("a split along ", FactorText(op, rule, factor),
                            ", whose shards depend on one another"),
               "a dimension with independent shards",
               "choose another dimension, or leave the node whole on one "
               "device");
}

absl::Status CheckRows(const OpView& op, const DimensionRule& rule,
                       const FactorSharding& sharding, int ranks) {
  const int64_t shards = rule.factors[sharding.factor].size / sharding.unit;
  if (shards >= ranks) return absl::OkStatus();
  return BadOp(
      op,
      absl::StrCat("a split along ", FactorText(op, rule, sharding.factor),
                   ", which has at most ", shards, " shards, over ", ranks,
                   " devices"),
      "at least one shard for each device",
      "choose fewer devices or another dimension");
}

std::vector<Sharding> Shardings(const DimensionRule& rule,
                                const std::vector<DimensionRule::Dims>& values,
                                const FactorSharding& sharding, int ranks) {
  std::vector<Sharding> shardings;
  for (const DimensionRule::Dims& dims : values) {
    shardings.push_back(ShardingUnder(rule, dims, sharding, ranks));
  }
  return shardings;
}

// A factor that is an inner part of a merged dimension cannot be sharded.
bool CarriedInside(const DimensionRule& rule, int factor) {
  for (const auto* values : {&rule.operands, &rule.results}) {
    for (const DimensionRule::Dims& dims : *values) {
      for (const auto& product : dims) {
        const auto at = std::find(product.begin(), product.end(), factor);
        if (at != product.end() && at != product.begin()) return true;
      }
    }
  }
  return false;
}

// Every result of a node that sums over the factor is a partial sum.
std::vector<Sharding> ResultShardings(const DimensionRule& rule,
                                      const FactorSharding& sharding,
                                      int ranks) {
  const Factor& factor = rule.factors[sharding.factor];
  if (factor.kind != Factor::Kind::kReduced) {
    return Shardings(rule, rule.results, sharding, ranks);
  }
  return std::vector<Sharding>(
      rule.results.size(),
      {.kind = Sharding::Kind::kPartial, .reduction = factor.reduction});
}

}  // namespace

bool operator<(const ShardedPlacement& a, const ShardedPlacement& b) {
  return std::tie(a.devices, a.sharding.kind, a.sharding.dim, a.sharding.unit) <
         std::tie(b.devices, b.sharding.kind, b.sharding.dim, b.sharding.unit);
}

absl::StatusOr<Placement> ShardNode(const OpView& op, Placement wanted) {
  const bool split = FirstSplit(wanted.results) != nullptr ||
                     FirstSplit(wanted.operands) != nullptr;
  if (wanted.devices.size() < 2 || !(split || HasPartial(wanted.operands))) {
    wanted.operands.clear();
    wanted.results.clear();
    return wanted;
  }
  if (!split) return wanted;
  const DimensionRule rule = op.op().dimension_rule != nullptr
                                 ? op.op().dimension_rule(op)
                                 : WholeRule(op);
  PARTITA_ASSIGN_OR_RETURN(const FactorSharding sharding,
                           ShardingToMake(op, rule, wanted));
  return ShardAlong(op, rule, sharding, std::move(wanted));
}

absl::StatusOr<Placement> ShardAlong(const OpView& op,
                                     const DimensionRule& rule,
                                     const FactorSharding& sharding,
                                     Placement wanted) {
  PARTITA_RETURN_IF_ERROR(CheckKind(op, rule, sharding.factor));
  if (CarriedInside(rule, sharding.factor)) {
    return BadOp(
        op,
        absl::StrCat("a split along ", FactorText(op, rule, sharding.factor),
                     ", which is the inner part of another one"),
        "a dimension that is the outer part wherever it is merged",
        "choose another dimension");
  }
  const int ranks = static_cast<int>(wanted.devices.size());
  PARTITA_RETURN_IF_ERROR(CheckRows(op, rule, sharding, ranks));
  wanted.operands = Shardings(rule, rule.operands, sharding, ranks);
  wanted.results = ResultShardings(rule, sharding, ranks);
  return wanted;
}

ShardedPlacement OperandNeed(const Placement& placement, int operand) {
  ShardedPlacement need{placement.devices, {}};
  if (!placement.operands.empty()) need.sharding = placement.operands[operand];
  return need;
}

ShardedPlacement ResultPlace(const Placement& placement, int result) {
  ShardedPlacement place{placement.devices, {}};
  if (!placement.results.empty()) place.sharding = placement.results[result];
  return place;
}

bool Satisfies(const ShardedPlacement& have, const ShardedPlacement& need) {
  if (have.sharding.kind != Sharding::Kind::kReplicated ||
      need.sharding.kind != Sharding::Kind::kReplicated) {
    return have == need;
  }
  return std::all_of(
      need.devices.begin(), need.devices.end(), [&](const std::string& device) {
        return std::find(have.devices.begin(), have.devices.end(), device) !=
               have.devices.end();
      });
}

}  // namespace partita
