// One backward walk finds what depends on each collective. Three forward walks
// fill buckets: of sums that other collectives depend on, of the other sums,
// and of all-gathers.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/fill_buckets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// A copy that gives every rank the whole value, from the ranks' shards or
// summands, as `had` says.
bool MakesWhole(const OpView& op, Sharding::Kind had) {
  const Placement& placement = op.node().placement;
  return op.is(kCopy) && placement.devices.size() > 1 &&
         ShardingOf(placement.operands, 0).kind == had &&
         ShardingOf(placement.results, 0) == Sharding();
}

bool IsAllReduce(const OpView& op) {
  return MakesWhole(op, Sharding::Kind::kPartial);
}

// In a graph that was placed by hand, the shards may be on other devices.
bool IsAllGather(const OpView& op) {
  if (!MakesWhole(op, Sharding::Kind::kSplit)) return false;
  const NodeId maker = op.graph().value(op.node().operands[0]).defining_node;
  return maker.valid() && op.graph().node(maker).placement.devices ==
                              op.node().placement.devices;
}

// Up to this size latency dominates the time of a collective.
constexpr int64_t kSmallBytes = int64_t{64} << 10;

// By node id.
struct Collectives {
  explicit Collectives(const Graph& graph)
      : leading(graph.node_id_bound()),
        last(graph.node_id_bound()),
        late(graph.node_id_bound()) {}

  std::vector<bool> leading;  // small sums; another collective needs them
  std::vector<bool> last;     // sums; no other collective needs them
  std::vector<bool> late;     // small all-gathers; only updates need them
};

// Which values lead to an output or to a collective. Visits nodes in reverse
// order.
class Readers {
 public:
  // `varying` by value id.
  Readers(const Graph& graph, const std::vector<bool>& varying)
      : varying_(varying),
        outputs_(graph.value_id_bound()),
        sums_(graph.value_id_bound()) {
    for (ValueId output : graph.outputs()) outputs_[output.index] = true;
  }

  bool LeadsToOutput(const OpView& op) const { return Leads(op, outputs_); }
  // Also true if it leads to a value of each micro-batch: gradients have to
  // wait for that value too.
  bool LeadsToSum(const OpView& op) const { return Leads(op, sums_); }

  void Pass(const OpView& op) {
    const bool to_output = LeadsToOutput(op);
    const bool to_sum =
        LeadsToSum(op) || IsAllReduce(op) || Leads(op, varying_);
    for (ValueId operand : op.node().operands) {
      if (to_output) outputs_[operand.index] = true;
      if (to_sum) sums_[operand.index] = true;
    }
  }

 private:
  static bool Leads(const OpView& op, const std::vector<bool>& leads_on) {
    return absl::c_any_of(op.node().results, [&](ValueId result) {
      return leads_on[result.index];
    });
  }

  const std::vector<bool>& varying_;
  std::vector<bool> outputs_;
  std::vector<bool> sums_;
};

// Excludes outputs of the step and values with `varying`.
Collectives FindCollectives(const Graph& graph,
                            const std::vector<bool>& varying) {
  Collectives found(graph);
  Readers readers(graph, varying);
  const std::vector<OpView> ops = graph.ops();
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    const int id = op->id().index;
    const bool leads = readers.LeadsToSum(*op);
    const bool late = !leads && !readers.LeadsToOutput(*op);
    readers.Pass(*op);
    const bool is_sum = IsAllReduce(*op);
    if (!is_sum && !IsAllGather(*op)) continue;
    const int64_t bytes = op->operand_type(0).num_bytes();
    const ValueId result = op->result(0).id();
    if (bytes == 0 || graph.is_output(result)) continue;
    if (varying[result.index]) continue;
    const bool small = bytes <= kSmallBytes;
    found.leading[id] = is_sum && leads && small;
    found.last[id] = is_sum && !leads;
    found.late[id] = !is_sum && late && small;
  }
  return found;
}

// By node id: how many complete passes of all micro-batches must come before
// the node can run.
std::vector<int> RoundsBefore(const Graph& graph,
                              const std::vector<bool>& varying) {
  std::vector<int> rounds(graph.node_id_bound(), 0);
  for (const OpView& op : graph.ops()) {
    for (ValueId operand : op.node().operands) {
      const NodeId maker = graph.value(operand).defining_node;
      if (!maker.valid()) continue;
      const bool is_sum = op.is(kAccumulate) && varying[operand.index];
      int& before = rounds[op.id().index];
      before = std::max(before, rounds[maker.index] + is_sum);
    }
  }
  return rounds;
}

// Puts selected collectives into buckets, in the order of the graph. With
// `rounds`, a bucket holds collectives of one round of micro-batches. Nodes
// that depend on the open bucket, and come before its end, are moved after it.
class Filler {
 public:
  // `selected` and `rounds` are by node id; `rounds` may be empty.
  Filler(Graph& graph, const std::vector<bool>& selected, int64_t bytes,
         std::vector<int> rounds = {})
      : graph_(graph),
        selected_(selected),
        rounds_(std::move(rounds)),
        room_(bytes),
        order_(graph.order()) {}

  absl::Status Run() {
    for (size_t i = 0; i < order_.size(); ++i) {
      const NodeId node = order_[i];
      if (WaitsForBucket(node)) {
        if (!IsSelected(node)) {
          Hold(node);
          continue;
        }
        PARTITA_RETURN_IF_ERROR(Close());
      }
      if (IsSelected(node)) PARTITA_RETURN_IF_ERROR(Add(i));
    }
    return Close();
  }

 private:
  // False for new bucket nodes, whose ids are past the end.
  bool IsSelected(NodeId node) const {
    return node.index < static_cast<int>(selected_.size()) &&
           selected_[node.index];
  }

  bool WaitsForBucket(NodeId node) const {
    return absl::c_any_of(graph_.node(node).operands, [&](ValueId operand) {
      return waiting_.contains(operand);
    });
  }

  void Hold(NodeId node) {
    held_.push_back(node);
    const ValueIds& results = graph_.node(node).results;
    waiting_.insert(results.begin(), results.end());
  }

  absl::Status Add(size_t position) {
    const NodeId copy = order_[position];
    if (!copies_.empty() && !MayGoTogether(copies_[0], copy)) {
      PARTITA_RETURN_IF_ERROR(Close());
    }
    copies_.push_back(copy);
    waiting_.insert(graph_.node(copy).results[0]);
    before_last_ = held_.size();
    after_last_ =
        position + 1 < order_.size() ? order_[position + 1] : NodeId();
    filled_ += graph_.view(copy).operand_type(0).num_bytes();
    return filled_ >= room_ ? Close() : absl::OkStatus();
  }

  bool MayGoTogether(NodeId a, NodeId b) const {
    const bool same_round =
        rounds_.empty() || rounds_[a.index] == rounds_[b.index];
    return same_round &&
           graph_.node(a).placement.devices == graph_.node(b).placement.devices;
  }

  // The bucket takes the position of its last copy.
  absl::Status Close() {
    absl::Status status;
    if (copies_.size() > 1) {
      status = MakeBucket();
      for (size_t i = 0; i < before_last_; ++i) {
        graph_.MoveBefore(held_[i], after_last_);
      }
    }
    copies_.clear();
    held_.clear();
    waiting_.clear();
    filled_ = 0;
    return status;
  }

  absl::Status MakeBucket() {
    PARTITA_ASSIGN_OR_RETURN(const NodeId bucket,
                             graph_.AddNode(SpecOf(copies_), copies_.back()));
    for (size_t i = 0; i < copies_.size(); ++i) {
      const ValueId result = graph_.node(bucket).results[i];
      const ValueId before = graph_.node(copies_[i]).results[0];
      graph_.value(result).type.layout = graph_.type(before).layout;
      graph_.ReplaceAllUses(before, result);
      graph_.Erase(copies_[i]);
    }
    return absl::OkStatus();
  }

  NodeSpec SpecOf(const std::vector<NodeId>& copies) const {
    const Node& last = graph_.node(copies.back());
    NodeSpec spec{
        .op = &kBucket, .scope = last.scope, .location = last.location};
    spec.placement.devices = last.placement.devices;
    for (NodeId id : copies) {
      const Node& copy = graph_.node(id);
      spec.operands.push_back(copy.operands[0]);
      spec.result_names.push_back(graph_.value(copy.results[0]).name);
      spec.placement.operands.push_back(copy.placement.operands[0]);
      spec.placement.results.push_back(copy.placement.results[0]);
    }
    return spec;
  }

  Graph& graph_;
  const std::vector<bool>& selected_;  // by node id, old nodes only
  const std::vector<int> rounds_;
  const int64_t room_;
  const std::vector<NodeId> order_;
  // State of the open bucket:
  std::vector<NodeId> copies_;
  int64_t filled_ = 0;  // bytes
  absl::flat_hash_set<ValueId>
      waiting_;               // its results and values that depend on them
  std::vector<NodeId> held_;  // dependent nodes to move after it
  size_t before_last_ = 0;    // of `held_`, before its last copy
  NodeId after_last_;         // the node after its last copy
};

}  // namespace

absl::Status FillBuckets(Graph& graph, int64_t bytes,
                         const std::vector<bool>& varying) {
  const Collectives found = FindCollectives(graph, varying);
  PARTITA_RETURN_IF_ERROR(
      Filler(graph, found.leading, bytes, RoundsBefore(graph, varying)).Run());
  PARTITA_RETURN_IF_ERROR(Filler(graph, found.last, bytes).Run());
  return Filler(graph, found.late, bytes).Run();
}

}  // namespace partita
