// Shardings that follow from a factor of the dimension rule.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/shard.h"

#include <algorithm>
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

// The factor that divides what is asked to be split: a result, or else an
// operand.
absl::StatusOr<int> FactorToCut(const OpView& op, const DimensionRule& rule,
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
  return dims[split.dim].front();
}

absl::Status CheckKind(const OpView& op, const Factor& factor) {
  if (factor.kind == Factor::Kind::kKept ||
      factor.kind == Factor::Kind::kReduced) {
    return absl::OkStatus();
  }
  return BadOp(op, absl::StrCat("a split along its factor ", factor.name),
               "a factor whose pieces are independent",
               "choose another dimension, or leave the node whole on one "
               "device");
}

// Pieces of a dimension and pieces of its outermost factor are the same bytes
// only if nothing else divides the dimension or the members divide the factor.
absl::Status CheckEven(const OpView& op, const DimensionRule& rule, int factor,
                       int members) {
  const int64_t size = rule.factors[factor].size;
  if (size < members) {
    return BadOp(
        op,
        absl::StrCat(size, " rows of factor ", rule.factors[factor].name,
                     " over ", members, " devices"),
        "a row for each device at least",
        "choose fewer devices or another dimension");
  }
  for (const auto* values : {&rule.operands, &rule.results}) {
    for (const DimensionRule::Dims& dims : *values) {
      for (const auto& product : dims) {
        if (product.size() < 2 || product.front() != factor) continue;
        if (size % members == 0) continue;
        return BadOp(
            op,
            absl::StrCat(size, " rows of factor ", rule.factors[factor].name,
                         " over ", members, " devices"),
            "a multiple of the devices, as a dimension is a product",
            "choose other devices or another dimension");
      }
    }
  }
  return absl::OkStatus();
}

std::vector<Sharding> Shardings(const std::vector<DimensionRule::Dims>& values,
                                int factor) {
  std::vector<Sharding> shardings;
  for (const DimensionRule::Dims& dims : values) {
    const int dim = DimensionOf(dims, factor);
    shardings.push_back(
        dim < 0 ? Sharding()
                : Sharding{.kind = Sharding::Kind::kSplit, .dim = dim});
  }
  return shardings;
}

// A factor that is the inner part of a product cannot be cut there.
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
std::vector<Sharding> ResultShardings(const DimensionRule& rule, int factor) {
  const Factor& cut = rule.factors[factor];
  if (cut.kind != Factor::Kind::kReduced) {
    return Shardings(rule.results, factor);
  }
  return std::vector<Sharding>(
      rule.results.size(),
      {.kind = Sharding::Kind::kPartial, .reduction = cut.reduction});
}

}  // namespace

bool operator<(const Whereabouts& a, const Whereabouts& b) {
  return std::tie(a.devices, a.sharding.kind, a.sharding.dim) <
         std::tie(b.devices, b.sharding.kind, b.sharding.dim);
}

absl::StatusOr<Placement> ShardNode(const OpView& op, Placement wanted) {
  const bool split = FirstSplit(wanted.results) != nullptr ||
                     FirstSplit(wanted.operands) != nullptr;
  if (wanted.devices.size() < 2 || !split) {
    wanted.operands.clear();
    wanted.results.clear();
    return wanted;
  }
  const DimensionRule rule = op.op().dimension_rule != nullptr
                                 ? op.op().dimension_rule(op)
                                 : WholeRule(op);
  PARTITA_ASSIGN_OR_RETURN(const int factor, FactorToCut(op, rule, wanted));
  return CutAlong(op, rule, factor, std::move(wanted));
}

absl::StatusOr<Placement> CutAlong(const OpView& op, const DimensionRule& rule,
                                   int factor, Placement wanted) {
  PARTITA_RETURN_IF_ERROR(CheckKind(op, rule.factors[factor]));
  if (CarriedInside(rule, factor)) {
    return BadOp(op,
                 absl::StrCat("a split of factor ", rule.factors[factor].name,
                              " that lies inside another dimension"),
                 "an outermost factor", "choose another dimension");
  }
  const int members = static_cast<int>(wanted.devices.size());
  PARTITA_RETURN_IF_ERROR(CheckEven(op, rule, factor, members));
  wanted.operands = Shardings(rule.operands, factor);
  wanted.results = ResultShardings(rule, factor);
  return wanted;
}

Whereabouts OperandNeed(const Placement& placement, int operand) {
  Whereabouts need{placement.devices, {}};
  if (!placement.operands.empty()) need.sharding = placement.operands[operand];
  return need;
}

Whereabouts ResultPlace(const Placement& placement, int result) {
  Whereabouts place{placement.devices, {}};
  if (!placement.results.empty()) place.sharding = placement.results[result];
  return place;
}

bool Satisfies(const Whereabouts& have, const Whereabouts& need) {
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
