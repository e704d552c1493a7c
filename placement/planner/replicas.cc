// Strategy `data`: the batch divided among replicas of the model.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/batch.h"
#include "graph/dimension_rule.h"
#include "graph/instance.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"
#include "placement/partition/shard.h"
#include "placement/planner/flow.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

// 1. The fastest device and those as fast, all of them linked, as many as the
// batch or the option allows.
std::vector<int> Replicas(const PlanRequest& request) {
  const CostModel& costs = request.costs;
  const std::vector<int> linked = LinkedDevices(costs);
  const int fastest = FastestFirst(costs).front();
  std::vector<int> replicas;
  for (int device : linked) {
    if (costs.SameSpeed(device, fastest)) replicas.push_back(device);
  }
  if (replicas.empty()) replicas = {fastest};
  const int64_t batch = std::max<int64_t>(1, BatchOf(request.graph()));
  size_t most = static_cast<size_t>(
      std::min<int64_t>(batch, static_cast<int64_t>(replicas.size())));
  const int asked = request.options.replicas;
  if (asked > 0) most = std::min(most, static_cast<size_t>(asked));
  replicas.resize(most);
  return replicas;
}

class Divider {
 public:
  Divider(const PlanRequest& request, std::vector<int> replicas)
      : request_(request),
        graph_(request.graph()),
        replicas_(std::move(replicas)),
        draft_(graph_),
        lies_(graph_.value_id_bound()) {
    for (int device : replicas_) {
      names_.push_back(request.costs.device_name(device));
    }
  }

  Draft Run() {
    PutPinned(request_, draft_);
    DivideInputs();
    for (NodeId node : request_.costs.order()) {
      if (!Placed(node)) DivideLikeOperands(node);
    }
    const std::vector<NodeId>& order = request_.costs.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      DivideLikeReaders(*it);
    }
    return std::move(draft_);
  }

 private:
  bool Placed(NodeId node) const {
    return !draft_.assignment[node.index].devices.empty();
  }

  void DivideInputs() {
    if (replicas_.size() < 2) return;
    for (ValueId input : graph_.inputs()) {
      if (!IsBatched(graph_, input)) continue;
      lies_[input.index] = {.kind = Kind::kSplit, .dim = 0};
    }
  }

  // 2. A node goes along with the first operand that is divided in a way in
  // which it can be; one that keeps the pieces apart before one that sums.
  void DivideLikeOperands(NodeId id) {
    const OpView op = graph_.view(id);
    if (request_.costs.is_stored(id)) return PutWhole(id);
    const DimensionRule rule = RuleOf(op);
    for (Factor::Kind kind : {Factor::Kind::kKept, Factor::Kind::kReduced}) {
      for (int i = 0; i < op.num_operands(); ++i) {
        const Sharding& lies = lies_[op.operand(i).id().index];
        const int factor = FactorAt(rule.operands[i], lies);
        if (factor < 0 || rule.factors[factor].kind != kind) continue;
        if (TryCut(op, rule, factor)) return;
      }
    }
    PutWhole(id);
  }

  // 3. What no operand divides (random numbers, fills, what is broadcast) is
  // divided like all its readers want it.
  void DivideLikeReaders(NodeId id) {
    const OpView op = graph_.view(id);
    const NodeDevices& place = draft_.assignment[id.index];
    if (replicas_.size() < 2 || place.divided() ||
        request_.costs.is_stored(id) || request_.pin(id) != nullptr) {
      return;
    }
    const std::optional<Sharding> wanted = WantedByAll(op);
    if (!wanted.has_value()) return;
    const DimensionRule rule = RuleOf(op);
    const int factor = FactorAt(rule.results[0], *wanted);
    if (factor < 0 || rule.factors[factor].kind != Factor::Kind::kKept) return;
    TryCut(op, rule, factor);
  }

  // How every reader of a node's one result takes it, if all of them divide it
  // alike.
  std::optional<Sharding> WantedByAll(const OpView& op) const {
    if (op.num_results() != 1) return std::nullopt;
    const ValueId result = op.result(0).id();
    const auto& uses = graph_.value(result).uses;
    if (uses.empty() || LeavesGraph(result)) return std::nullopt;
    std::optional<Sharding> wanted;
    for (const Use& use : uses) {
      const Sharding taken =
          ShardingOf(draft_.assignment[use.node.index].operands, use.operand);
      if (taken.kind != Kind::kSplit) return std::nullopt;
      if (wanted.has_value() && *wanted != taken) return std::nullopt;
      wanted = taken;
    }
    return wanted;
  }

  bool LeavesGraph(ValueId value) const {
    return graph_.is_output(value) ||
           absl::c_any_of(graph_.updates(), [&](const VariableUpdate& update) {
             return update.value == value;
           });
  }

  static DimensionRule RuleOf(const OpView& op) {
    return op.op().dimension_rule != nullptr ? op.op().dimension_rule(op)
                                             : WholeRule(op);
  }

  // The outermost factor of the dimension that is split, or -1.
  static int FactorAt(const DimensionRule::Dims& dims, const Sharding& split) {
    if (split.kind != Kind::kSplit || dims[split.dim].empty()) return -1;
    return dims[split.dim].front();
  }

  bool TryCut(const OpView& op, const DimensionRule& rule, int factor) {
    const absl::StatusOr<Placement> cut =
        CutAlong(op, rule, factor, {.devices = names_});
    if (!cut.ok()) return false;
    NodeDevices& place = draft_.assignment[op.id().index];
    place.devices.assign(replicas_.begin(), replicas_.end());
    place.operands = cut->operands;
    place.results = cut->results;
    draft_.why[op.id().index].reason = Reason::kDivided;
    for (int i = 0; i < op.num_results(); ++i) {
      // Partial sums are joined before anyone reads them.
      const Sharding& result = cut->results[i];
      const bool split = result.kind == Kind::kSplit;
      lies_[op.result(i).id().index] = split ? result : Sharding();
    }
    return true;
  }

  void PutWhole(NodeId id) {
    NodeDevices& place = draft_.assignment[id.index];
    place.devices.assign(replicas_.begin(), replicas_.end());
    draft_.why[id.index].reason =
        replicas_.size() < 2 ? Reason::kOnlyDevice : Reason::kReplicated;
  }

  const PlanRequest& request_;
  const Graph& graph_;
  const std::vector<int> replicas_;
  absl::InlinedVector<std::string, 1> names_;
  Draft draft_;
  std::vector<Sharding> lies_;  // by value, as its readers find it
};

}  // namespace

absl::StatusOr<Draft> DraftData(const PlanRequest& request) {
  const std::vector<int> replicas = Replicas(request);
  PARTITA_RETURN_IF_ERROR(CheckRunsAll(request, replicas.front()));
  Draft draft = Divider(request, replicas).Run();
  PARTITA_RETURN_IF_ERROR(CheckLinks(request, draft));
  const std::optional<Shortage> shortage = FindShortage(request, draft);
  if (!shortage.has_value()) return draft;
  return RefusalError(ExplainShortage(request, draft, *shortage));
}

}  // namespace partita
