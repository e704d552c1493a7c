// Holds shardings against an op's dimension rule.
// SPDX-License-Identifier: Apache-2.0

#include "graph/cut.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/instance.h"
#include "graph/op_def.h"
#include "graph/text/sharding_text.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

// Alike in what the kind gives a meaning.
bool Same(const Sharding& a, const Sharding& b) {
  return a.kind == b.kind && (a.kind != Kind::kSplit || a.dim == b.dim) &&
         (a.kind != Kind::kSplit || a.unit == b.unit) &&
         (a.kind != Kind::kPartial || a.reduction == b.reduction);
}

Sharding At(const std::vector<Sharding>& shardings, int i) {
  return shardings.empty() ? Sharding() : shardings[i];
}

bool Divides(const std::vector<Sharding>& shardings) {
  return absl::c_any_of(shardings, [](const Sharding& sharding) {
    return sharding.kind != Kind::kReplicated;
  });
}

// Whether a value has the factor at one place at most, and not inside another.
bool MayBeCut(const DimensionRule::Dims& dims, int factor) {
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
                    const FactorCut& cut) {
  const int members = static_cast<int>(placement.devices.size());
  for (size_t i = 0; i < rule.operands.size(); ++i) {
    const DimensionRule::Dims& dims = rule.operands[i];
    const Sharding found = At(placement.operands, static_cast<int>(i));
    if (!MayBeCut(dims, cut.factor) ||
        !Same(ShardingUnder(rule, dims, cut, members), found)) {
      return false;
    }
  }
  return true;
}

bool ResultsFollow(const Placement& placement, const DimensionRule& rule,
                   const FactorCut& cut) {
  const int members = static_cast<int>(placement.devices.size());
  const Factor& factor = rule.factors[cut.factor];
  const bool reduced = factor.kind == Factor::Kind::kReduced;
  for (size_t i = 0; i < rule.results.size(); ++i) {
    const DimensionRule::Dims& dims = rule.results[i];
    if (!MayBeCut(dims, cut.factor)) return false;
    Sharding expected = ShardingUnder(rule, dims, cut, members);
    const bool has_factor = expected.kind == Kind::kSplit;
    if (has_factor == reduced) return false;
    if (reduced) expected = {Kind::kPartial, 0, factor.reduction};
    const Sharding found = At(placement.results, static_cast<int>(i));
    if (!Same(expected, found)) return false;
  }
  return true;
}

// The cut that the shardings are, if the rule allows it.
std::optional<FactorCut> AllowedCut(const DimensionRule& rule,
                                    const Placement& placement) {
  const std::optional<FactorCut> cut = CutOfNode(rule, placement);
  if (!cut.has_value()) return std::nullopt;
  const Factor::Kind kind = rule.factors[cut->factor].kind;
  const bool may_be_cut =
      kind == Factor::Kind::kKept || kind == Factor::Kind::kReduced;
  if (!may_be_cut || !OperandsFollow(placement, rule, *cut) ||
      !ResultsFollow(placement, rule, *cut)) {
    return std::nullopt;
  }
  return cut;
}

// The placement, its values divided by the cut.
Placement CutThere(const DimensionRule& rule, const FactorCut& cut,
                   Placement placement) {
  const int members = static_cast<int>(placement.devices.size());
  const auto under = [&](const std::vector<DimensionRule::Dims>& values) {
    std::vector<Sharding> shardings;
    for (const DimensionRule::Dims& dims : values) {
      shardings.push_back(ShardingUnder(rule, dims, cut, members));
    }
    return shardings;
  };
  placement.operands = under(rule.operands);
  placement.results = under(rule.results);
  const Factor& factor = rule.factors[cut.factor];
  if (factor.kind == Factor::Kind::kReduced) {
    placement.results.assign(rule.results.size(),
                             {Kind::kPartial, 0, factor.reduction});
  }
  return placement;
}

// The shardings that a value of the node has, then each factor's plain one.
std::vector<FactorCut> CutsToReport(const DimensionRule& rule,
                                    const Placement& placement) {
  std::vector<FactorCut> cuts;
  const int members = static_cast<int>(placement.devices.size());
  const auto add = [&](const std::vector<DimensionRule::Dims>& values,
                       const std::vector<Sharding>& shardings) {
    for (size_t i = 0; i < values.size(); ++i) {
      const std::optional<FactorCut> cut =
          CutAs(rule, values[i], At(shardings, static_cast<int>(i)), members);
      if (cut.has_value()) cuts.push_back(*cut);
    }
  };
  add(rule.operands, placement.operands);
  add(rule.results, placement.results);
  for (size_t f = 0; f < rule.factors.size(); ++f) {
    cuts.push_back({static_cast<int>(f), 1});
  }
  return cuts;
}

// "(split 0, replicated) -> (split 0)", as a plan's text has it.
std::string CutText(const OpView& node, const Placement& placement) {
  const auto list = [](const std::vector<Sharding>& shardings, int count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) {
      texts.push_back(ShardingText(At(shardings, i)));
    }
    return absl::StrCat("(", absl::StrJoin(texts, ", "), ")");
  };
  const int operands = node.num_operands();
  return absl::StrCat(
      operands == 0 ? "" : list(placement.operands, operands) + " ", "-> ",
      list(placement.results, node.num_results()));
}

absl::Status NoCut(const OpView& node, const DimensionRule& rule) {
  const Placement& found = node.node().placement;
  std::vector<std::string> allowed;
  for (const FactorCut& cut : CutsToReport(rule, found)) {
    const Placement there = CutThere(rule, cut, found);
    std::string text = CutText(node, there);
    if (AllowedCut(rule, there).has_value() &&
        !absl::c_linear_search(allowed, text)) {
      allowed.push_back(std::move(text));
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "found ", CutText(node, found), "; expected ",
      allowed.empty() ? ""
                      : absl::StrCat(absl::StrJoin(allowed, ", "), ", or "),
      "all of it on each device, as its op's dimension rule allows"));
}

TensorType Part(const TensorType& type, const Sharding& sharding, int member,
                int members) {
  return InstanceType(type.RowMajor(), sharding, member, members);
}

bool SameExtents(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.dims == b.dims;
}

// The op, asked what it makes of the member's operands.
absl::Status InferPiece(const OpView& node, const Factor& factor,
                        const FactorCut& cut, int member) {
  const Placement& placement = node.node().placement;
  const int members = static_cast<int>(placement.devices.size());
  Graph piece("piece", &node.graph().literals());
  NodeSpec spec{.op = &node.op(), .attributes = node.node().attributes};
  for (int i = 0; i < node.num_operands(); ++i) {
    spec.operands.push_back(
        piece.AddInput("", Part(node.operand_type(i), At(placement.operands, i),
                                member, members)));
  }
  if (node.op().piece_attributes != nullptr) {
    const Interval share = MemberShare(factor.size, cut.unit, member, members);
    node.op().piece_attributes(node, cut.factor, share.begin, share.end,
                               spec.attributes);
  }
  const absl::StatusOr<NodeId> made = piece.AddNode(std::move(spec));
  if (!made.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("member ", member, ": ", made.status().message()));
  }
  for (int i = 0; i < node.num_results(); ++i) {
    const TensorType expected =
        Part(node.result_type(i), At(placement.results, i), member, members);
    const TensorType& found = piece.type(piece.node(*made).results[i]);
    if (SameExtents(found, expected)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("member ", member, ": found ", found.ToString(),
                     "; expected its part ", expected.ToString()));
  }
  return absl::OkStatus();
}

// Nodes with bodies infer from them, and a body's extents are the whole's.
absl::Status InferPieces(const OpView& node, const Factor& factor,
                         const FactorCut& cut) {
  if (!node.node().regions.empty()) return absl::OkStatus();
  const size_t members = node.node().placement.devices.size();
  for (size_t m = 0; m < members; ++m) {
    absl::Status status = InferPiece(node, factor, cut, static_cast<int>(m));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

// A reorder is the same permutation of every member's summand, and sums may be
// taken over micro-batches first, then over members, or the other way around.
bool PassesSummands(const OpView& node, const Placement& placement) {
  if (placement.operands.size() != 1 || placement.results.size() != 1) {
    return false;
  }
  const Sharding& summand = placement.operands[0];
  if (summand.kind != Kind::kPartial || !Same(summand, placement.results[0])) {
    return false;
  }
  return node.is(kReorder) ||
         (node.is(kAccumulate) && summand.reduction == Reduction::kSum);
}

absl::Status CheckCut(const OpView& node) {
  const Placement& placement = node.node().placement;
  if (placement.devices.size() <= 1 ||
      (!Divides(placement.operands) && !Divides(placement.results))) {
    return absl::OkStatus();
  }
  if (PassesSummands(node, placement)) return absl::OkStatus();
  const DimensionRule rule = node.op().dimension_rule != nullptr
                                 ? node.op().dimension_rule(node)
                                 : WholeRule(node);
  const std::optional<FactorCut> cut = AllowedCut(rule, placement);
  if (!cut.has_value()) return NoCut(node, rule);
  return InferPieces(node, rule.factors[cut->factor], *cut);
}

}  // namespace partita
