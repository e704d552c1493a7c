// Follows sums over the batch to the updates, and variables back from these.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/divide_updates.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/instance.h"
#include "graph/op_view.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

// A share of dimension 0 is an interval of a value's bytes.
constexpr Sharding kShare = {.kind = Kind::kSplit, .dim = 0};

class UpdateDivider {
 public:
  UpdateDivider(const Graph& graph, absl::InlinedVector<std::string, 1> parts,
                const std::vector<bool>& is_whole, int64_t least_bytes,
                BatchDivision& division)
      : graph_(graph),
        is_whole_(is_whole),
        least_bytes_(least_bytes),
        cutter_(graph, std::move(parts), division),
        leads_to_output_(graph.node_id_bound()),
        scattered_(graph.value_id_bound()) {}

  void Run() {
    const std::vector<OpView> ops = graph_.ops();
    FindLeadingToOutput(ops);
    for (const OpView& op : ops) {
      if (MayBeDivided(op)) DivideLikeOperands(op);
      for (int i = 0; i < op.num_results(); ++i) Scatter(op, i);
    }
    StoreInParts(ops);
  }

 private:
  // What a step returns is not delayed by exchanges of updates.
  void FindLeadingToOutput(const std::vector<OpView>& ops) {
    std::vector<bool> leads(graph_.value_id_bound());
    for (ValueId output : graph_.outputs()) leads[output.index] = true;
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      const auto& results = op->node().results;
      if (!absl::c_any_of(results, [&](ValueId v) { return leads[v.index]; })) {
        continue;
      }
      leads_to_output_[op->id().index] = true;
      for (ValueId operand : op->node().operands) leads[operand.index] = true;
    }
  }

  bool MayBeDivided(const OpView& op) const {
    return !is_whole_[op.id().index] && !leads_to_output_[op.id().index] &&
           !op.is(kConstant) && !op.is(kVariable) && !cutter_.IsCut(op.id());
  }

  // A large sum, if whoever reads it can take a share.
  void Scatter(const OpView& op, int result) {
    const ValueId value = op.result(result).id();
    const TensorType& type = op.result_type(result);
    if (!cutter_.IsCut(op.id()) ||
        ShardingOf(cutter_.division().cuts[op.id().index].results, result)
                .kind != Kind::kPartial ||
        type.rank() == 0 || type.dims[0] < cutter_.num_parts() ||
        type.num_bytes() < least_bytes_ || graph_.is_output(value)) {
      return;
    }
    const auto& uses = graph_.value(value).uses;
    scattered_[value.index] =
        !uses.empty() && absl::c_all_of(uses, [&](const Use& use) {
          const OpView reader = graph_.view(use.node);
          return MayBeDivided(reader) && CanTakeShare(reader, use.operand);
        });
  }

  // Cut as the operand is; nothing where that leaves more than intervals of a
  // result with a part, as a transposition does.
  std::optional<Placement> CutLike(const OpView& op, const DimensionRule& rule,
                                   int operand, const Sharding& share,
                                   Factor::Kind kind) const {
    std::optional<Placement> cut =
        cutter_.CutLike(op, rule, rule.operands[operand], share, kind);
    if (!cut.has_value()) return std::nullopt;
    const auto is_interval = [](const Sharding& result) {
      return result.kind != Kind::kSplit || result.dim == 0;
    };
    if (!absl::c_all_of(cut->results, is_interval)) return std::nullopt;
    return cut;
  }

  bool CanTakeShare(const OpView& op, int operand) const {
    const DimensionRule rule = NodeCutter::RuleOf(op);
    return absl::c_any_of(kKinds, [&](Factor::Kind kind) {
      return CutLike(op, rule, operand, kShare, kind).has_value();
    });
  }

  // A node goes along with the first operand of which it can take a share.
  void DivideLikeOperands(const OpView& op) {
    const DimensionRule rule = NodeCutter::RuleOf(op);
    for (Factor::Kind kind : kKinds) {
      for (int i = 0; i < op.num_operands(); ++i) {
        const int value = op.operand(i).id().index;
        const Sharding share =
            scattered_[value] ? kShare : cutter_.division().shardings[value];
        std::optional<Placement> cut = CutLike(op, rule, i, share, kind);
        if (!cut.has_value()) continue;
        cutter_.Cut(op, *std::move(cut));
        return;
      }
    }
  }

  // An updated variable of which every reader takes the same share, which is
  // also what it becomes.
  void StoreInParts(const std::vector<OpView>& ops) {
    absl::flat_hash_map<std::string, Sharding> becomes;
    for (const VariableUpdate& update : graph_.updates()) {
      becomes[update.variable] =
          cutter_.division().shardings[update.value.index];
    }
    for (const OpView& op : ops) {
      if (!op.is(kVariable) || is_whole_[op.id().index]) continue;
      const std::optional<Sharding> wanted = cutter_.WantedByAll(op);
      const auto update = becomes.find(op.attr_string("name"));
      if (!wanted.has_value() || update == becomes.end() ||
          update->second != *wanted) {
        continue;
      }
      cutter_.Store(op.id(), *wanted);
    }
  }

  // One that keeps the shares apart before one that sums.
  static constexpr Factor::Kind kKinds[] = {Factor::Kind::kKept,
                                            Factor::Kind::kReduced};

  const Graph& graph_;
  const std::vector<bool>& is_whole_;
  const int64_t least_bytes_;
  NodeCutter cutter_;
  std::vector<bool> leads_to_output_;  // by node id
  std::vector<bool> scattered_;        // by value id
};

}  // namespace

void DivideUpdates(const Graph& graph,
                   absl::InlinedVector<std::string, 1> parts,
                   const std::vector<bool>& is_whole, int64_t least_bytes,
                   BatchDivision& division) {
  if (parts.size() < 2) return;
  UpdateDivider(graph, std::move(parts), is_whole, least_bytes, division).Run();
}

}  // namespace partita
