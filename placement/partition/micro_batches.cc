// Splits types and attributes, and accumulates sums over the batch.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/micro_batches.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/batch.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/node_key.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/option_error.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "placement/partition/shard_batch.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

constexpr size_t kMaxFaults = 20;

// The remedy if the batch was not recognised correctly.
constexpr char kNameOthers[] =
    "name the inputs that hold the samples by --batch-input";

// "2 or 4": the counts next to `count` that divide the batch.
std::string NearestDivisors(int64_t batch, int64_t count) {
  int64_t below = std::min(count, batch);
  while (batch % below != 0) --below;
  int64_t above = count;
  while (above < batch && batch % above != 0) ++above;
  return above > batch ? absl::StrCat(below)
                       : absl::StrCat(below, " or ", above);
}

// `common` is the greatest common divisor of all functions' batches.
absl::Status CheckBatch(const Graph& graph, int count, const Batch& batch,
                        int64_t common) {
  const int64_t extent = batch.extent;
  if (extent > 0 && extent % count == 0) return absl::OkStatus();
  const std::string inputs = BatchText(graph, batch);
  const std::string source =
      inputs.empty() ? "" : absl::StrCat(", the first extent of ", inputs);
  const std::string others =
      inputs.empty() ? "" : absl::StrCat(", or ", kNameOthers);
  return OfOption(
      "micro-batches",
      absl::InvalidArgumentError(absl::StrCat(
          "micro-batches of @", graph.name(), ": found ", count,
          " for a batch of ", extent, source,
          "; expected a divisor of the batch",
          common == extent ? "" : " of every function",
          extent > 0 ? absl::StrCat("; take ", NearestDivisors(common, count))
                     : "",
          others)));
}

// The part of a node that one micro-batch computes.
using Shard = std::unique_ptr<Graph>;

class MicroBatcher {
 public:
  MicroBatcher(Graph& graph, const Batch& batch, int count)
      : graph_(graph),
        batch_(batch),
        count_(count),
        sharding_(graph),
        shards_(graph.node_id_bound()) {
    for (int m = 0; m < count; ++m) parts_.push_back(absl::StrCat(m));
    sharding_ = ShardBatch(graph, batch, parts_,
                           std::vector<bool>(graph.node_id_bound(), false));
    for (int i = 0; i < graph.value_id_bound(); ++i) {
      names_.insert(graph.value(ValueId(i)).name);
    }
  }

  absl::StatusOr<MicroBatches> Run() {
    CheckGraph();
    if (!faults_.empty()) return Refusal();
    if (absl::c_all_of(shards_, [](const Shard& p) { return p == nullptr; })) {
      return absl::InvalidArgumentError(absl::StrCat(
          "micro-batches of @", graph_.name(),
          ": found no node that reads the batch; leave out micro-batches"));
    }
    MicroBatches micro_batches{.count = count_};
    for (ValueId input : graph_.inputs()) {
      const bool sharded = sharding_of(input).kind == Kind::kSplit;
      micro_batches.sharded_inputs.push_back(sharded);
      if (sharded) graph_.value(input).type.dims[0] /= count_;
    }
    for (NodeId node : graph_.order()) {
      if (shards_[node.index] != nullptr) {
        PARTITA_RETURN_IF_ERROR(Divide(node));
      }
    }
    return micro_batches;
  }

 private:
  const Sharding& sharding_of(ValueId value) const {
    return sharding_.values[value];
  }

  void Fault(absl::string_view where, absl::string_view what) {
    if (faults_.size() < kMaxFaults) {
      faults_.push_back(absl::StrCat("  ", where, ": ", what));
    }
  }

  absl::Status Refusal() const {
    return absl::InvalidArgumentError(absl::StrCat(
        "micro-batches of @", graph_.name(),
        ": found results that need the whole batch at once; expected "
        "independent examples, and sums over them; leave out micro-batches, or "
        "write it as a sum:\n",
        absl::StrJoin(faults_, "\n"), "\n  the batch was taken for the first ",
        "extent of ", BatchText(graph_, batch_), "; if it is not, ",
        kNameOthers));
  }

  // Checks the whole graph before the first change.
  void CheckGraph() {
    for (const OpView& op : graph_.ops()) {
      if (CheckOperands(op) && CheckSums(op)) FindShards(op);
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const Sharding& how = sharding_of(graph_.outputs()[i]);
      if (how.kind != Kind::kSplit || how.dim == 0) continue;
      Fault(absl::StrCat("output ", graph_.output_names()[i]),
            absl::StrCat("has the batch along dimension ", how.dim,
                         ", not the first"));
    }
    for (const VariableUpdate& update : graph_.updates()) {
      if (sharding_of(update.value).kind != Kind::kSplit) continue;
      Fault(absl::StrCat("update of ", update.variable),
            "has a value for each example");
    }
  }

  bool CheckOperands(const OpView& op) {
    const Placement& sharded = sharding_.nodes[op.id()];
    for (int i = 0; i < op.num_operands(); ++i) {
      const Sharding& found = sharding_of(op.operand(i).id());
      const Sharding wanted = ShardingOf(sharded.operands, i);
      if (found == wanted || FindPart(op, i, wanted)) continue;
      Fault(op.ToString(), WhyNot(op, i, wanted));
      return false;
    }
    return true;
  }

  static bool IsMergedInside(const OpView& reshape, int dim) {
    const DimensionRule rule = reshape.op().dimension_rule(reshape);
    const auto& factors = rule.operands[0][dim];
    return !factors.empty() &&
           DimensionOf(rule.results[0], factors.front()) < 0;
  }

  std::string WhyNot(const OpView& op, int operand,
                     const Sharding& wanted) const {
    const Sharding& found = sharding_of(op.operand(operand).id());
    if (wanted.kind == Kind::kSplit && found.kind != Kind::kSplit) {
      return absl::StrCat("splits operand ", operand,
                          ", which is the same for all examples");
    }
    if (op.is(kReshape) && IsMergedInside(op, found.dim)) {
      return absl::StrCat("merges the batch, dimension ", found.dim,
                          " of its operand, after another dimension into rows "
                          "that must keep their order; put the batch first "
                          "by a transpose");
    }
    return absl::StrCat("reads all examples of operand ", operand);
  }

  // Finds the one part of a constant that is equal for all micro-batches, such
  // as zeros. False if there is none.
  bool FindPart(const OpView& op, int operand, const Sharding& wanted) {
    const NodeId maker = graph_.value(op.operand(operand).id()).defining_node;
    if (wanted.kind != Kind::kSplit || !maker.valid() ||
        !graph_.view(maker).is(kConstant)) {
      return false;
    }
    LiteralPool& literals = graph_.literals();
    const LiteralId literal = graph_.view(maker).attr_literal("value");
    if (!literals.has_bytes(literal)) return false;
    const HostTensor whole = literals.tensor(literal).Clone();
    HostTensor first = partita::ShardOf(whole, wanted, 0, count_);
    for (int m = 1; m < count_; ++m) {
      const HostTensor part = partita::ShardOf(whole, wanted, m, count_);
      if (part.byte_span() != first.byte_span()) return false;
    }
    part_constants_[{op.id(), operand}] = literals.Add(std::move(first));
    return true;
  }

  bool CheckSums(const OpView& op) {
    const Placement& sharded = sharding_.nodes[op.id()];
    for (int i = 0; i < op.num_results(); ++i) {
      const Sharding how = ShardingOf(sharded.results, i);
      if (how.kind != Kind::kPartial) continue;
      if (how.reduction == Reduction::kSum &&
          op.result_type(i).dtype != DType::kBool) {
        continue;
      }
      Fault(op.ToString(),
            absl::StrCat("reduces over all examples by ",
                         ReductionName(how.reduction), ", not by a sum"));
      return false;
    }
    return true;
  }

  // The shard of the first micro-batch represents all of them if they differ
  // only in an origin that advances.
  void FindShards(const OpView& op) {
    if (!sharding_.nodes[op.id()].placed()) return;
    absl::StatusOr<Shard> first = ShardOf(op, kFirstMicroBatch);
    absl::StatusOr<Shard> second = ShardOf(op, MicroBatchId(1));
    if (!first.ok() || !second.ok()) {
      return Fault(op.ToString(), "cannot be split");
    }
    SetAdvance(**first, **second);
    for (MicroBatchId m : MicroBatchesToCompare(op, (*first)->ops()[0])) {
      const absl::StatusOr<Shard> shard = ShardOf(op, m);
      if (shard.ok() && HasShard((*first)->ops()[0], m, **shard)) continue;
      return Fault(op.ToString(),
                   "has attributes that differ from example to example");
    }
    shards_[op.id().index] = *std::move(first);
  }

  // The first of each run of micro-batches with equal shards of `op`; all if
  // the node that stands for them changes with the micro-batch.
  std::vector<MicroBatchId> MicroBatchesToCompare(const OpView& op,
                                                  const OpView& first) {
    const bool changes = ChangesWithMicroBatch(first);
    const std::vector<bool> others =
        RanksWithOtherShards(op, sharding_.nodes[op.id()]);
    std::vector<MicroBatchId> compared;
    for (MicroBatchId m : IdRange(MicroBatchId(1), count_ - 1)) {
      if (changes || others[m.index]) compared.push_back(m);
    }
    return compared;
  }

  // Micro-batch m is rank m of the whole graph.
  absl::StatusOr<Shard> ShardOf(const OpView& op, MicroBatchId m) {
    return ShardOfNode(op, sharding_.nodes[op.id()], /*rank=*/m.index,
                       kFirstMicroBatch);
  }

  // Sets the advance of the origin from one micro-batch to the next.
  static void SetAdvance(Graph& first, const Graph& second) {
    const OpView op = first.ops()[0];
    if (FindAttr(op.op(), "advance") == nullptr) return;
    std::vector<int64_t> advance = second.ops()[0].attr_ints("origin");
    const std::vector<int64_t> origin = op.attr_ints("origin");
    for (size_t d = 0; d < advance.size() && d < origin.size(); ++d) {
      advance[d] -= origin[d];
    }
    first.node(op.id()).attributes.Set("advance", advance);
  }

  // True if `first` computes in micro-batch m what `shard` does. Both are
  // shards of one node, so what their keys leave out is equal.
  static bool HasShard(const OpView& first, MicroBatchId m,
                       const Graph& shard) {
    const std::string expected = NodeKey(shard.ops()[0]);
    if (!ChangesWithMicroBatch(first)) return NodeKey(first) == expected;
    absl::StatusOr<Shard> instance = ShardOfNode(first, 0, m);
    if (!instance.ok()) return false;
    const OpView made = (*instance)->ops()[0];
    (*instance)->node(made.id()).attributes.Remove("advance");
    return NodeKey(made) == expected;
  }

  absl::Status Divide(NodeId id) {
    const int num_operands = graph_.view(id).num_operands();
    for (int i = 0; i < num_operands; ++i) {
      const auto part = part_constants_.find({id, i});
      if (part == part_constants_.end()) continue;
      graph_.SetOperand(id, i, graph_.AddConstant(part->second, "", id));
    }
    Graph& shard = *shards_[id.index];
    Node& made = shard.node(shard.order()[0]);
    Node& node = graph_.node(id);
    node.attributes = std::move(made.attributes);
    node.regions = std::move(made.regions);
    PARTITA_RETURN_IF_ERROR(graph_.InferAgain(id));
    const Placement& sharded = sharding_.nodes[id];
    const ValueIds results = node.results;
    for (size_t i = 0; i < results.size(); ++i) {
      if (ShardingOf(sharded.results, i).kind != Kind::kPartial) continue;
      PARTITA_RETURN_IF_ERROR(SumUp(id, results[i]));
    }
    return absl::OkStatus();
  }

  // Makes all readers of the value read its sum.
  absl::Status SumUp(NodeId maker, ValueId value) {
    const Node& node = graph_.node(maker);
    const bool one_pin = node.placement.devices.size() == 1;
    NodeSpec spec{.op = &kAccumulate,
                  .attributes = {{"micro_batches", int64_t{count_}}},
                  .result_names = {NameOfSum(value)},
                  .scope = node.scope,
                  .location = node.location};
    if (one_pin) spec.placement = node.placement;
    spec.placement.groups = node.placement.groups;
    const NodeId next = NextOf(maker);
    const TensorType type = graph_.type(value);
    // The uses are copied before `accumulate` is added, which reads the value
    // itself.
    const auto uses = graph_.value(value).uses;
    spec.operands = {value};
    PARTITA_ASSIGN_OR_RETURN(const ValueId sum,
                             graph_.AddValue(std::move(spec), next));
    for (const Use& use : uses) graph_.SetOperand(use.node, use.operand, sum);
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      if (graph_.outputs()[i] == value) {
        graph_.SetOutput(static_cast<int>(i), sum);
      }
    }
    for (size_t i = 0; i < graph_.updates().size(); ++i) {
      if (graph_.updates()[i].value == value) {
        graph_.SetUpdate(static_cast<int>(i), sum);
      }
    }
    return absl::OkStatus();
  }

  NodeId NextOf(NodeId node) const {
    const std::vector<NodeId> order = graph_.order();
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      if (order[i] == node) return order[i + 1];
    }
    return {};
  }

  std::string NameOfSum(ValueId value) {
    const std::string& name = graph_.value(value).name;
    if (name.empty()) return name;
    std::string fresh = absl::StrCat(name, ".sum");
    for (int i = 2; !names_.insert(fresh).second; ++i) {
      fresh = absl::StrCat(name, ".sum", i);
    }
    return fresh;
  }

  Graph& graph_;
  const Batch& batch_;
  const int count_;
  absl::InlinedVector<std::string, 1> parts_;
  BatchSharding sharding_;
  std::vector<Shard> shards_;  // by node id; null: computed whole
  // By node and operand: the constant that replaces a whole constant.
  std::map<std::pair<NodeId, int>, LiteralId> part_constants_;
  std::vector<std::string> faults_;
  absl::flat_hash_set<std::string> names_;
};

}  // namespace

absl::Status CheckMicroBatches(const Module& module, int count,
                               absl::Span<const std::string> batch_inputs) {
  std::vector<Batch> batches;
  int64_t common = 0;
  for (const auto& function : module.functions()) {
    batches.push_back(FindBatch(*function, batch_inputs));
    common = std::gcd(common, batches.back().extent);
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    PARTITA_RETURN_IF_ERROR(
        CheckBatch(*module.functions()[i], count, batches[i], common));
  }
  return absl::OkStatus();
}

absl::StatusOr<MicroBatches> DivideIntoMicroBatches(
    Graph& graph, int count, absl::Span<const std::string> batch_inputs) {
  if (count == 1) return MicroBatches();
  const Batch batch = FindBatch(graph, batch_inputs);
  PARTITA_RETURN_IF_ERROR(CheckBatch(graph, count, batch, batch.extent));
  return MicroBatcher(graph, batch, count).Run();
}

}  // namespace partita
