// Follows the batch from inputs to outputs, then from readers to producers.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/shard_batch.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "placement/partition/node_sharder.h"

namespace partita {
namespace {

class BatchSharder {
 public:
  BatchSharder(const Graph& graph, absl::InlinedVector<std::string, 1> ranks,
               const std::vector<bool>& is_whole, BatchSharding& sharding)
      : graph_(graph),
        is_whole_(is_whole),
        sharder_(graph, std::move(ranks), sharding) {}

  // Needs: the inputs' shardings are set.
  void Run() {
    const std::vector<OpView> ops = graph_.ops();
    for (const OpView& op : ops) {
      if (!MayBeSharded(op)) continue;
      if (op.is(kAccumulate)) KeepPartial(op);
      if (!sharder_.IsSharded(op.id())) ShardLikeOperands(op);
    }
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      if (MayBeSharded(*op)) ShardLikeReaders(*op);
    }
  }

 private:
  bool MayBeSharded(const OpView& op) const {
    return !is_whole_[op.id().index] && !op.is(kConstant) && !op.is(kVariable);
  }

  // Each rank accumulates its partial sums over micro-batches, so that a step
  // needs one all-reduce.
  void KeepPartial(const OpView& op) {
    const NodeId maker = graph_.value(op.operand(0).id()).defining_node;
    if (!maker.valid() || !sharder_.IsSharded(maker)) return;
    const Sharding summand =
        ShardingOf(sharder_.sharding().nodes[maker].results,
                   graph_.value(op.operand(0).id()).index);
    if (summand.kind != Sharding::Kind::kPartial ||
        summand.reduction != Reduction::kSum) {
      return;
    }
    sharder_.Shard(op, {.devices = sharder_.ranks(),
                        .operands = {summand},
                        .results = {summand}});
  }

  // 1. A node is sharded like its first operand whose sharding its rule allows.
  // Factors that the results keep go before factors that are summed over.
  void ShardLikeOperands(const OpView& op) {
    const DimensionRule rule = NodeSharder::RuleOf(op);
    for (Factor::Kind kind : {Factor::Kind::kKept, Factor::Kind::kReduced}) {
      for (int i = 0; i < op.num_operands(); ++i) {
        const Sharding split = sharder_.sharding().values[op.operand(i).id()];
        if (TryShard(op, rule, rule.operands[i], split, kind)) return;
      }
    }
  }

  // 2. A node without split operands (random numbers, fills, broadcasts) is
  // sharded as all its readers want it.
  void ShardLikeReaders(const OpView& op) {
    if (sharder_.IsSharded(op.id())) return;
    const std::optional<Sharding> wanted = sharder_.WantedByAll(op);
    if (!wanted.has_value()) return;
    const DimensionRule rule = NodeSharder::RuleOf(op);
    TryShard(op, rule, rule.results[0], *wanted, Factor::Kind::kKept);
  }

  bool TryShard(const OpView& op, const DimensionRule& rule,
                const DimensionRule::Dims& dims, const Sharding& split,
                Factor::Kind kind) {
    std::optional<Placement> sharded =
        sharder_.ShardLike(op, rule, dims, split, kind);
    if (sharded.has_value()) sharder_.Shard(op, *std::move(sharded));
    return sharded.has_value();
  }

  const Graph& graph_;
  const std::vector<bool>& is_whole_;
  NodeSharder sharder_;
};

}  // namespace

BatchSharding ShardBatch(const Graph& graph, const Batch& batch,
                         absl::InlinedVector<std::string, 1> ranks,
                         const std::vector<bool>& is_whole) {
  BatchSharding sharding(graph);
  if (ranks.size() < 2) return sharding;
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    if (!batch.inputs[i]) continue;
    sharding.values[graph.inputs()[i]] = {.kind = Sharding::Kind::kSplit,
                                          .dim = 0};
  }
  BatchSharder(graph, std::move(ranks), is_whole, sharding).Run();
  return sharding;
}

}  // namespace partita
