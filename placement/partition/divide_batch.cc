// Follows the batch through the nodes, and back.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/divide_batch.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/instance.h"
#include "graph/op_view.h"
#include "placement/partition/node_cutter.h"

namespace partita {
namespace {

class Divider {
 public:
  Divider(const Graph& graph, absl::InlinedVector<std::string, 1> parts,
          const std::vector<bool>& is_whole, BatchDivision& division)
      : graph_(graph),
        is_whole_(is_whole),
        cutter_(graph, std::move(parts), division) {}

  // Inputs lie as they are divided.
  void Run() {
    const std::vector<OpView> ops = graph_.ops();
    for (const OpView& op : ops) {
      if (!MayBeCut(op)) continue;
      if (op.is(kAccumulate)) KeepPartial(op);
      if (!cutter_.IsCut(op.id())) DivideLikeOperands(op);
    }
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      if (MayBeCut(*op)) DivideLikeReaders(*op);
    }
  }

 private:
  bool MayBeCut(const OpView& op) const {
    return !is_whole_[op.id().index] && !op.is(kConstant) && !op.is(kVariable);
  }

  // A part adds its own sums over the batch up over micro-batches, so that the
  // parts' are joined once in a step.
  void KeepPartial(const OpView& op) {
    const NodeId maker = graph_.value(op.operand(0).id()).defining_node;
    if (!maker.valid() || !cutter_.IsCut(maker)) return;
    const Sharding summand =
        ShardingOf(cutter_.division().cuts[maker.index].results,
                   graph_.value(op.operand(0).id()).index);
    if (summand.kind != Sharding::Kind::kPartial ||
        summand.reduction != Reduction::kSum) {
      return;
    }
    cutter_.Cut(op, {.devices = cutter_.parts(),
                     .operands = {summand},
                     .results = {summand}});
  }

  // 1. A node goes along with the first operand that is divided in a way in
  // which it can be; one that keeps the pieces apart before one that sums.
  void DivideLikeOperands(const OpView& op) {
    const DimensionRule rule = NodeCutter::RuleOf(op);
    for (Factor::Kind kind : {Factor::Kind::kKept, Factor::Kind::kReduced}) {
      for (int i = 0; i < op.num_operands(); ++i) {
        const Sharding lies =
            cutter_.division().shardings[op.operand(i).id().index];
        if (TryCut(op, rule, rule.operands[i], lies, kind)) return;
      }
    }
  }

  // 2. What no operand divides (random numbers, fills, what is broadcast) is
  // divided like all its readers want it.
  void DivideLikeReaders(const OpView& op) {
    if (cutter_.IsCut(op.id())) return;
    const std::optional<Sharding> wanted = cutter_.WantedByAll(op);
    if (!wanted.has_value()) return;
    const DimensionRule rule = NodeCutter::RuleOf(op);
    TryCut(op, rule, rule.results[0], *wanted, Factor::Kind::kKept);
  }

  bool TryCut(const OpView& op, const DimensionRule& rule,
              const DimensionRule::Dims& dims, const Sharding& split,
              Factor::Kind kind) {
    std::optional<Placement> cut = cutter_.CutLike(op, rule, dims, split, kind);
    if (cut.has_value()) cutter_.Cut(op, *std::move(cut));
    return cut.has_value();
  }

  const Graph& graph_;
  const std::vector<bool>& is_whole_;
  NodeCutter cutter_;
};

}  // namespace

BatchDivision DivideBatch(const Graph& graph, const Batch& batch,
                          absl::InlinedVector<std::string, 1> parts,
                          const std::vector<bool>& is_whole) {
  BatchDivision division;
  division.cuts.resize(graph.node_id_bound());
  division.shardings.resize(graph.value_id_bound());
  if (parts.size() < 2) return division;
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    if (!batch.inputs[i]) continue;
    division.shardings[graph.inputs()[i].index] = {
        .kind = Sharding::Kind::kSplit, .dim = 0};
  }
  Divider(graph, std::move(parts), is_whole, division).Run();
  return division;
}

}  // namespace partita
