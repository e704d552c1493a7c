// Holds shardings against an op's dimension rule.
// SPDX-License-Identifier: Apache-2.0

#include "graph/cut.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/op_def.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

// Alike in what the kind gives a meaning.
bool Same(const Sharding& a, const Sharding& b) {
  return a.kind == b.kind && (a.kind != Kind::kSplit || a.dim == b.dim) &&
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

// The outermost factor of the first dimension that is split.
std::optional<int> FirstSplit(const std::vector<Sharding>& shardings,
                              const std::vector<DimensionRule::Dims>& values) {
  for (size_t i = 0; i < shardings.size() && i < values.size(); ++i) {
    const Sharding& sharding = shardings[i];
    if (sharding.kind != Kind::kSplit) continue;
    if (sharding.dim < 0 ||
        sharding.dim >= static_cast<int>(values[i].size()) ||
        values[i][sharding.dim].empty()) {
      return std::nullopt;
    }
    return values[i][sharding.dim].front();
  }
  return std::nullopt;
}

// The dimension that the factor cuts; -1 if the value does not have it; nothing
// if there is no single cut: inside a product, twice in one value, or beside
// other factors unless it is even.
std::optional<int> CutDimension(const DimensionRule::Dims& dims, int factor,
                                bool even) {
  int where = -1;
  for (size_t d = 0; d < dims.size(); ++d) {
    for (size_t k = 0; k < dims[d].size(); ++k) {
      if (dims[d][k] != factor) continue;
      if (k != 0 || where >= 0 || (dims[d].size() > 1 && !even)) {
        return std::nullopt;
      }
      where = static_cast<int>(d);
    }
  }
  return where;
}

// What the sharding of a value must be; nothing if it cannot be cut.
std::optional<Sharding> CutOf(const DimensionRule::Dims& dims, int factor,
                              bool even) {
  const std::optional<int> dim = CutDimension(dims, factor, even);
  if (!dim.has_value()) return std::nullopt;
  if (*dim < 0) return Sharding();
  return Sharding{.kind = Kind::kSplit, .dim = *dim};
}

bool OperandsFollow(const Placement& placement, const DimensionRule& rule,
                    int factor, bool even) {
  for (size_t i = 0; i < rule.operands.size(); ++i) {
    const std::optional<Sharding> cut = CutOf(rule.operands[i], factor, even);
    const Sharding found = At(placement.operands, static_cast<int>(i));
    if (!cut.has_value() || !Same(*cut, found)) return false;
  }
  return true;
}

bool ResultsFollow(const Placement& placement, const DimensionRule& rule,
                   int factor, bool even) {
  const Factor& cut = rule.factors[factor];
  const bool reduced = cut.kind == Factor::Kind::kReduced;
  for (size_t i = 0; i < rule.results.size(); ++i) {
    std::optional<Sharding> expected = CutOf(rule.results[i], factor, even);
    if (!expected.has_value()) return false;
    const bool has_factor = expected->kind == Kind::kSplit;
    if (has_factor == reduced) return false;
    if (reduced) *expected = {Kind::kPartial, 0, cut.reduction};
    const Sharding found = At(placement.results, static_cast<int>(i));
    if (!Same(*expected, found)) return false;
  }
  return true;
}

absl::Status NoCut() {
  return absl::InvalidArgumentError(
      "found shardings that are not one cut along a factor whose pieces are "
      "independent; expected one that its op's dimension rule allows");
}

TensorType Part(const TensorType& type, const Sharding& sharding, int member,
                int members) {
  TensorType part = type.RowMajor();
  if (sharding.kind != Kind::kSplit) return part;
  int64_t& extent = part.dims[sharding.dim];
  extent = (member + 1) * extent / members - member * extent / members;
  return part;
}

bool SameExtents(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.dims == b.dims;
}

// The op, asked what it makes of the member's operands.
absl::Status InferPiece(const OpView& node, const Factor& cut, int factor,
                        int member) {
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
    node.op().piece_attributes(node, factor, member * cut.size / members,
                               (member + 1) * cut.size / members,
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

// A reorder is the same permutation of every member's summand, so a value that
// is still to be joined may go through it as it is.
bool MovesSummands(const OpView& node) {
  const Placement& placement = node.node().placement;
  return node.is(kReorder) && placement.operands.size() == 1 &&
         placement.results.size() == 1 &&
         placement.operands[0].kind == Kind::kPartial &&
         Same(placement.operands[0], placement.results[0]);
}

// Nodes with bodies infer from them, and a body's extents are the whole's.
absl::Status InferPieces(const OpView& node, const Factor& cut, int factor) {
  if (!node.node().regions.empty()) return absl::OkStatus();
  const size_t members = node.node().placement.devices.size();
  for (size_t m = 0; m < members; ++m) {
    absl::Status status = InferPiece(node, cut, factor, static_cast<int>(m));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCut(const OpView& node) {
  const Placement& placement = node.node().placement;
  if (placement.devices.size() <= 1 ||
      (!Divides(placement.operands) && !Divides(placement.results))) {
    return absl::OkStatus();
  }
  if (MovesSummands(node)) return absl::OkStatus();
  const DimensionRule rule = node.op().dimension_rule != nullptr
                                 ? node.op().dimension_rule(node)
                                 : WholeRule(node);
  std::optional<int> factor = FirstSplit(placement.operands, rule.operands);
  if (!factor.has_value()) {
    factor = FirstSplit(placement.results, rule.results);
  }
  if (!factor.has_value()) return NoCut();
  const Factor& cut = rule.factors[*factor];
  const int64_t members = static_cast<int64_t>(placement.devices.size());
  const bool even = cut.size % members == 0;
  const bool may_be_cut =
      cut.kind == Factor::Kind::kKept || cut.kind == Factor::Kind::kReduced;
  if (!may_be_cut || !OperandsFollow(placement, rule, *factor, even) ||
      !ResultsFollow(placement, rule, *factor, even)) {
    return NoCut();
  }
  return InferPieces(node, cut, *factor);
}

}  // namespace partita
