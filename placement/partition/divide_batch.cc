// Follows the batch through the nodes, and back.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/divide_batch.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/batch.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/instance.h"
#include "graph/op_view.h"
#include "placement/partition/shard.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

class Divider {
 public:
  Divider(const Graph& graph, absl::InlinedVector<std::string, 1> parts,
          const std::vector<bool>& is_whole)
      : graph_(graph), parts_(std::move(parts)), is_whole_(is_whole) {
    division_.cuts.resize(graph.node_id_bound());
    division_.lies.resize(graph.value_id_bound());
  }

  BatchDivision Run() {
    if (parts_.size() < 2) return std::move(division_);
    for (ValueId input : graph_.inputs()) {
      if (!IsBatched(graph_, input)) continue;
      division_.lies[input.index] = {.kind = Kind::kSplit, .dim = 0};
    }
    const std::vector<OpView> ops = graph_.ops();
    for (const OpView& op : ops) {
      if (MayBeCut(op)) DivideLikeOperands(op);
    }
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      if (MayBeCut(*op)) DivideLikeReaders(*op);
    }
    return std::move(division_);
  }

 private:
  bool MayBeCut(const OpView& op) const {
    return !is_whole_[op.id().index] && !op.is(kConstant) && !op.is(kVariable);
  }

  // 1. A node goes along with the first operand that is divided in a way in
  // which it can be; one that keeps the pieces apart before one that sums.
  void DivideLikeOperands(const OpView& op) {
    const DimensionRule rule = RuleOf(op);
    for (Factor::Kind kind : {Factor::Kind::kKept, Factor::Kind::kReduced}) {
      for (int i = 0; i < op.num_operands(); ++i) {
        const Sharding& lies = division_.lies[op.operand(i).id().index];
        if (TryCut(op, rule, rule.operands[i], lies, kind)) return;
      }
    }
  }

  // 2. What no operand divides (random numbers, fills, what is broadcast) is
  // divided like all its readers want it.
  void DivideLikeReaders(const OpView& op) {
    if (division_.cuts[op.id().index].placed()) return;
    const std::optional<Sharding> wanted = WantedByAll(op);
    if (!wanted.has_value()) return;
    const DimensionRule rule = RuleOf(op);
    TryCut(op, rule, rule.results[0], *wanted, Factor::Kind::kKept);
  }

  // How every reader of a node's one result takes it, if all of them divide it
  // alike.
  std::optional<Sharding> WantedByAll(const OpView& op) const {
    if (op.num_results() != 1) return std::nullopt;
    const ValueId result = op.result(0).id();
    const auto& uses = graph_.value(result).uses;
    if (uses.empty() || graph_.is_output(result)) return std::nullopt;
    std::optional<Sharding> wanted;
    for (const Use& use : uses) {
      const Sharding taken =
          ShardingOf(division_.cuts[use.node.index].operands, use.operand);
      if (taken.kind != Kind::kSplit) return std::nullopt;
      if (wanted.has_value() && *wanted != taken) return std::nullopt;
      wanted = taken;
    }
    return wanted;
  }

  static DimensionRule RuleOf(const OpView& op) {
    return op.op().dimension_rule != nullptr ? op.op().dimension_rule(op)
                                             : WholeRule(op);
  }

  // As one of its values is split, if that is along a factor of this kind.
  bool TryCut(const OpView& op, const DimensionRule& rule,
              const DimensionRule::Dims& dims, const Sharding& split,
              Factor::Kind kind) {
    const std::optional<FactorCut> alike =
        CutAs(rule, dims, split, static_cast<int>(parts_.size()));
    if (!alike.has_value() || rule.factors[alike->factor].kind != kind) {
      return false;
    }
    absl::StatusOr<Placement> cut =
        CutAlong(op, rule, *alike, {.devices = parts_});
    if (!cut.ok()) return false;
    for (int i = 0; i < op.num_results(); ++i) {
      const Sharding& result = cut->results[i];
      const bool split = result.kind == Kind::kSplit;
      division_.lies[op.result(i).id().index] = split ? result : Sharding();
    }
    division_.cuts[op.id().index] = *std::move(cut);
    return true;
  }

  const Graph& graph_;
  const absl::InlinedVector<std::string, 1> parts_;
  const std::vector<bool>& is_whole_;
  BatchDivision division_;
};

}  // namespace

BatchDivision DivideBatch(const Graph& graph,
                          absl::InlinedVector<std::string, 1> parts,
                          const std::vector<bool>& is_whole) {
  return Divider(graph, std::move(parts), is_whole).Run();
}

}  // namespace partita
