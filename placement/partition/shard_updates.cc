// Follows sums over the batch to the updates, and these back to variables.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/shard_updates.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/id_vector.h"
#include "graph/op_view.h"
#include "graph/shard.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

// A shard along dimension 0 is an interval of a value's bytes.
constexpr Sharding kRows = {.kind = Kind::kSplit, .dim = 0};

class UpdateSharder {
 public:
  UpdateSharder(const Graph& graph, absl::InlinedVector<std::string, 1> ranks,
                const std::vector<bool>& is_whole, int64_t least_bytes,
                BatchSharding& sharding)
      : graph_(graph),
        is_whole_(is_whole),
        least_bytes_(least_bytes),
        sharder_(graph, std::move(ranks), sharding),
        leads_to_output_(graph.node_id_bound()),
        scattered_(graph.value_id_bound()) {}

  void Run() {
    const std::vector<OpView> ops = graph_.ops();
    FindLeadingToOutput(ops);
    for (const OpView& op : ops) {
      if (MayBeSharded(op)) ShardLikeOperands(op);
      for (int i = 0; i < op.num_results(); ++i) Scatter(op, i);
    }
    ShardVariables(ops);
  }

 private:
  // Outputs of a step do not wait for collectives of updates.
  void FindLeadingToOutput(const std::vector<OpView>& ops) {
    IdVector<ValueId, bool> leads(graph_.value_id_bound());
    for (ValueId output : graph_.outputs()) leads[output] = true;
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      const auto& results = op->node().results;
      if (!absl::c_any_of(results, [&](ValueId v) { return leads[v]; })) {
        continue;
      }
      leads_to_output_[op->id()] = true;
      for (ValueId operand : op->node().operands) leads[operand] = true;
    }
  }

  bool MayBeSharded(const OpView& op) const {
    return !is_whole_[op.id().index] && !leads_to_output_[op.id()] &&
           !op.is(kConstant) && !op.is(kVariable) &&
           !sharder_.IsSharded(op.id());
  }

  // Scatters a large sum if all its readers can be sharded.
  void Scatter(const OpView& op, int result) {
    const ValueId value = op.result(result).id();
    const TensorType& type = op.result_type(result);
    if (!sharder_.IsSharded(op.id()) ||
        ShardingOf(sharder_.sharding().nodes[op.id()].results, result).kind !=
            Kind::kPartial ||
        type.rank() == 0 || type.dims[0] < sharder_.num_ranks() ||
        type.num_bytes() < least_bytes_ || graph_.is_output(value)) {
      return;
    }
    const auto& uses = graph_.value(value).uses;
    scattered_[value] =
        !uses.empty() && absl::c_all_of(uses, [&](const Use& use) {
          const OpView reader = graph_.view(use.node);
          return MayBeSharded(reader) && CanBeSharded(reader, use.operand);
        });
  }

  // The node sharded like its operand. Nothing if a result's shard would not be
  // one interval of bytes, as after a transpose.
  std::optional<Placement> ShardLike(const OpView& op,
                                     const DimensionRule& rule, int operand,
                                     const Sharding& split,
                                     Factor::Kind kind) const {
    std::optional<Placement> sharded =
        sharder_.ShardLike(op, rule, rule.operands[operand], split, kind);
    if (!sharded.has_value()) return std::nullopt;
    const auto is_interval = [](const Sharding& result) {
      return result.kind != Kind::kSplit || result.dim == 0;
    };
    if (!absl::c_all_of(sharded->results, is_interval)) return std::nullopt;
    return sharded;
  }

  bool CanBeSharded(const OpView& op, int operand) const {
    const DimensionRule rule = NodeSharder::RuleOf(op);
    return absl::c_any_of(kKinds, [&](Factor::Kind kind) {
      return ShardLike(op, rule, operand, kRows, kind).has_value();
    });
  }

  // A node is sharded like its first operand whose sharding it can take.
  void ShardLikeOperands(const OpView& op) {
    const DimensionRule rule = NodeSharder::RuleOf(op);
    for (Factor::Kind kind : kKinds) {
      for (int i = 0; i < op.num_operands(); ++i) {
        const ValueId value = op.operand(i).id();
        const Sharding split =
            scattered_[value] ? kRows : sharder_.sharding().values[value];
        std::optional<Placement> sharded = ShardLike(op, rule, i, split, kind);
        if (!sharded.has_value()) continue;
        sharder_.Shard(op, *std::move(sharded));
        return;
      }
    }
  }

  // An updated variable is stored as shards if all its readers and its new
  // value have the same sharding.
  void ShardVariables(const std::vector<OpView>& ops) {
    absl::flat_hash_map<std::string, Sharding> becomes;
    for (const VariableUpdate& update : graph_.updates()) {
      becomes[update.variable] = sharder_.sharding().values[update.value];
    }
    for (const OpView& op : ops) {
      if (!op.is(kVariable) || is_whole_[op.id().index]) continue;
      const std::optional<Sharding> wanted = sharder_.WantedByAll(op);
      const auto update = becomes.find(op.attr_string("name"));
      if (!wanted.has_value() || update == becomes.end() ||
          update->second != *wanted) {
        continue;
      }
      sharder_.Store(op.id(), *wanted);
    }
  }

  // Factors that the results keep go before factors that are summed over.
  static constexpr Factor::Kind kKinds[] = {Factor::Kind::kKept,
                                            Factor::Kind::kReduced};

  const Graph& graph_;
  const std::vector<bool>& is_whole_;
  const int64_t least_bytes_;
  NodeSharder sharder_;
  IdVector<NodeId, bool> leads_to_output_;
  IdVector<ValueId, bool> scattered_;
};

}  // namespace

void ShardUpdates(const Graph& graph, absl::InlinedVector<std::string, 1> ranks,
                  const std::vector<bool>& is_whole, int64_t least_bytes,
                  BatchSharding& sharding) {
  if (ranks.size() < 2) return;
  UpdateSharder(graph, std::move(ranks), is_whole, least_bytes, sharding).Run();
}

}  // namespace partita
