// Walks both graphs in step.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/verify_micro_batches.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/check_sharding.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "placement/partition/same_node.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

constexpr size_t kMaxFaults = 20;

// Without placements: pins shard nodes over devices, which is checked
// elsewhere.
std::unique_ptr<const Graph> Unpinned(const Graph& graph) {
  std::unique_ptr<Graph> clone = graph.Clone(&graph.literals());
  for (const OpView& op : clone->ops()) {
    clone->node(op.id()).placement = Placement();
  }
  return clone;
}

// True if an op in a body computes attributes from a rank's interval.
bool BodyDependsOnInterval(const OpView& node) {
  return absl::c_any_of(node.node().regions, [](const auto& body) {
    return absl::c_any_of(body->ops(), [](const OpView& op) {
      return op.op().shard_attributes != nullptr || BodyDependsOnInterval(op);
    });
  });
}

class Verifier {
 public:
  Verifier(const Graph& whole, const Graph& micro_batch, int count)
      : whole_(whole.Clone(&whole.literals())),
        micro_batch_(Unpinned(micro_batch)),
        count_(count),
        of_whole_(*whole_),
        of_micro_batch_(*micro_batch_),
        sum_of_(micro_batch.value_id_bound(), -1) {
    for (int m = 0; m < count; ++m) parts_.push_back(absl::StrCat(m));
  }

  absl::Status Run() {
    CompareInputs();
    Walk();
    CompareResults();
    if (faults_.empty()) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(
        "bug: dividing @", micro_batch_->name(), " into ", count_,
        " micro-batches changed it: ", absl::StrJoin(faults_, "\n")));
  }

 private:
  void Fault(absl::string_view where, absl::string_view what) {
    if (faults_.size() < kMaxFaults) {
      faults_.push_back(absl::StrCat(where, ": found ", what));
    }
  }

  // The sharding of a value, from its types: whole, or split along a dimension.
  Sharding ShardingBetween(const TensorType& whole, const TensorType& part) {
    for (int d = 0; d < whole.rank() && d < part.rank(); ++d) {
      if (whole.dims[d] == part.dims[d]) continue;
      TensorType longer = part;
      longer.dims[d] *= count_;
      if (!SameExtents(longer, whole)) break;
      return {.kind = Kind::kSplit, .dim = d};
    }
    if (!SameExtents(whole, part)) {
      Fault(part.ToString(), absl::StrCat("no shard of ", whole.ToString()));
    }
    return {};
  }

  void CompareInputs() {
    if (whole_->inputs().size() != micro_batch_->inputs().size()) {
      return Fault("inputs", "another number of them");
    }
    for (size_t i = 0; i < micro_batch_->inputs().size(); ++i) {
      const ValueId before = whole_->inputs()[i];
      const ValueId after = micro_batch_->inputs()[i];
      if (ShardingBetween(whole_->type(before), micro_batch_->type(after)).dim >
          0) {
        Fault(absl::StrCat("input ", i), "a split along an inner dimension");
      }
      of_whole_.Set(before, next_);
      of_micro_batch_.Set(after, next_++);
    }
  }

  // Equal literals are equal values.
  void NumberConstants(const Graph& graph, Numbering& numbering) {
    for (const OpView& op : graph.ops(kConstant)) {
      const auto [it, added] =
          constants_.emplace(op.attr_literal("value").index, next_);
      if (added) ++next_;
      numbering.Set(op.result(0).id(), it->second);
    }
  }

  // True if both are constants and every shard of `whole` equals `part`.
  bool IsPart(const ValueView& whole, const ValueView& part,
              const Sharding& split) const {
    const NodeId from = whole_->value(whole.id()).defining_node;
    const NodeId to = micro_batch_->value(part.id()).defining_node;
    if (split.kind != Kind::kSplit || !from.valid() || !to.valid() ||
        !whole_->view(from).is(kConstant) ||
        !micro_batch_->view(to).is(kConstant)) {
      return false;
    }
    const LiteralPool& literals = micro_batch_->literals();
    const LiteralId all = whole_->view(from).attr_literal("value");
    const LiteralId one = micro_batch_->view(to).attr_literal("value");
    if (!literals.has_bytes(all) || !literals.has_bytes(one)) return false;
    const HostTensor& expected = literals.tensor(one);
    for (int m = 0; m < count_; ++m) {
      const HostTensor found = ShardOf(literals.tensor(all), split, m, count_);
      if (found.byte_span() != expected.byte_span()) return false;
    }
    return true;
  }

  void Walk() {
    NumberConstants(*whole_, of_whole_);
    NumberConstants(*micro_batch_, of_micro_batch_);
    std::vector<OpView> nodes = whole_->ops();
    std::erase_if(nodes, [](const OpView& op) { return op.is(kConstant); });
    size_t next = 0;
    for (const OpView& op : micro_batch_->ops()) {
      if (op.is(kConstant)) continue;
      if (op.is(kAccumulate)) {
        FinishSum(op);
      } else if (next == nodes.size()) {
        return Fault(op.ToString(), "a node that the whole graph lacks");
      } else {
        Compare(nodes[next++], op);
      }
    }
    if (next < nodes.size()) Fault(nodes[next].ToString(), "no node for it");
  }

  // The sum has the number of the whole value.
  void FinishSum(const OpView& op) {
    const int number = sum_of_[op.operand(0).id().index];
    if (number < 0)
      Fault(op.ToString(), "a sum of a value that is no partial sum");
    if (op.attr_int("micro_batches") != count_) {
      Fault(op.ToString(), "a sum over another number of micro-batches");
    }
    of_micro_batch_.Set(op.result(0).id(), number);
  }

  void Compare(const OpView& before, const OpView& after) {
    if (&before.op() != &after.op() ||
        before.num_operands() != after.num_operands() ||
        before.num_results() != after.num_results()) {
      return Fault(after.ToString(),
                   absl::StrCat("another op than of ", before.ToString()));
    }
    const Placement sharded = ShardedPlacementOf(before, after);
    if (sharded.placed()) {
      CompareSharding(before, after, sharded);
    } else if (!SameNode(before, after)) {
      Fault(after.ToString(), "other attributes, body or types");
    }
    for (int i = 0; i < before.num_results(); ++i) {
      of_whole_.Set(before.result(i).id(), next_);
      const bool partial =
          ShardingOf(sharded.results, i).kind == Kind::kPartial;
      if (partial) sum_of_[after.result(i).id().index] = next_;
      of_micro_batch_.Set(after.result(i).id(), partial ? -1 : next_);
      ++next_;
    }
  }

  // The sharding of a node, from its types. Not placed: the node is whole. Also
  // compares the operands.
  Placement ShardedPlacementOf(const OpView& before, const OpView& after) {
    Placement sharded{.devices = parts_};
    bool reads_shard = false;
    for (int i = 0; i < before.num_operands(); ++i) {
      sharded.operands.push_back(
          ShardingBetween(before.operand_type(i), after.operand_type(i)));
      const int number = of_micro_batch_.Of(after.operand(i).id());
      const bool same =
          number >= 0 && number == of_whole_.Of(before.operand(i).id());
      if (!same &&
          !IsPart(before.operand(i), after.operand(i), sharded.operands[i])) {
        Fault(after.ToString(), absl::StrCat("another operand ", i));
      }
      reads_shard |= sharded.operands.back().kind == Kind::kSplit;
    }
    bool makes_shard = false;
    for (int i = 0; i < before.num_results(); ++i) {
      sharded.results.push_back(
          ShardingBetween(before.result_type(i), after.result_type(i)));
      makes_shard |= sharded.results.back().kind == Kind::kSplit;
    }
    if (!reads_shard && !makes_shard) return {};
    if (!makes_shard)
      absl::c_fill(sharded.results, Sharding{.kind = Kind::kPartial});
    return sharded;
  }

  void CompareSharding(const OpView& before, const OpView& after,
                       const Placement& sharded) {
    whole_->node(before.id()).placement = sharded;
    if (const absl::Status status = CheckSharding(before); !status.ok()) {
      return Fault(after.ToString(), status.message());
    }
    for (const int m : MicroBatchesToCompare(before, after, sharded)) {
      const auto shard = ShardOfNode(before, /*rank=*/m);
      if (!shard.ok() ||
          !IsInstance(after, MicroBatchId(m), (*shard)->ops()[0])) {
        return Fault(after.ToString(),
                     absl::StrCat("another node than the shard of ",
                                  before.ToString(), " in micro-batch ", m));
      }
    }
  }

  // ShardingBetween found that all micro-batches have the extents of the first
  // one. So the shard of another one is equal, unless an op computes attributes
  // from the interval.
  std::vector<int> MicroBatchesToCompare(const OpView& before,
                                         const OpView& after,
                                         const Placement& sharded) const {
    const bool all =
        ChangesWithMicroBatch(after) || BodyDependsOnInterval(before);
    const std::vector<bool> others = OtherAttributes(before, sharded);
    std::vector<int> compared = {0};
    for (int m = 1; m < count_; ++m) {
      if (all || others[m]) compared.push_back(m);
    }
    return compared;
  }

  // By micro-batch: true if the node's attributes differ from those in the
  // first one.
  std::vector<bool> OtherAttributes(const OpView& before,
                                    const Placement& sharded) const {
    std::vector<bool> others(count_, false);
    if (before.op().shard_attributes == nullptr) return others;
    const DimensionRule rule = before.op().dimension_rule(before);
    const std::optional<FactorSharding> sharding =
        FactorShardingOfNode(rule, sharded);
    // Without a factor the first micro-batch has no shard, and is a fault.
    if (!sharding.has_value()) return others;
    const int64_t extent = rule.factors[sharding->factor].size / count_;
    const auto attributes_in = [&](int m) {
      Attributes attributes = before.node().attributes;
      before.op().shard_attributes(before, sharding->factor, m * extent,
                                   (m + 1) * extent, attributes);
      return attributes;
    };
    const Attributes first = attributes_in(0);
    for (int m = 1; m < count_; ++m) others[m] = !(attributes_in(m) == first);
    return others;
  }

  static bool IsInstance(const OpView& after, MicroBatchId m,
                         const OpView& shard) {
    if (!ChangesWithMicroBatch(after)) return SameNode(after, shard);
    const auto instance = ShardOfNode(after, 0, m);
    if (!instance.ok()) return false;
    const OpView made = (*instance)->ops()[0];
    (*instance)->node(made.id()).attributes.Remove("advance");
    return SameNode(made, shard);
  }

  void CompareResults() {
    if (whole_->outputs().size() != micro_batch_->outputs().size() ||
        whole_->updates().size() != micro_batch_->updates().size()) {
      return Fault("outputs and updates", "another number of them");
    }
    for (size_t i = 0; i < micro_batch_->outputs().size(); ++i) {
      const ValueId before = whole_->outputs()[i];
      const ValueId after = micro_batch_->outputs()[i];
      const Sharding split =
          ShardingBetween(whole_->type(before), micro_batch_->type(after));
      if (of_micro_batch_.Of(after) != of_whole_.Of(before) || split.dim > 0 ||
          whole_->output_names()[i] != micro_batch_->output_names()[i]) {
        Fault(absl::StrCat("output ", micro_batch_->output_names()[i]),
              "another value");
      }
    }
    for (size_t i = 0; i < micro_batch_->updates().size(); ++i) {
      const VariableUpdate& before = whole_->updates()[i];
      const VariableUpdate& after = micro_batch_->updates()[i];
      if (of_micro_batch_.Of(after.value) != of_whole_.Of(before.value) ||
          before.variable != after.variable ||
          !SameExtents(whole_->type(before.value),
                       micro_batch_->type(after.value))) {
        Fault(absl::StrCat("update of ", before.variable), "another value");
      }
    }
  }

  const std::unique_ptr<Graph> whole_;  // gets the placements to check
  const std::unique_ptr<const Graph> micro_batch_;
  const int count_;
  absl::InlinedVector<std::string, 1> parts_;
  Numbering of_whole_;
  Numbering of_micro_batch_;
  std::vector<int> sum_of_;  // by partial sum: the number of the whole value
  std::map<int, int> constants_;  // by literal: its number
  int next_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace

absl::Status VerifyMicroBatches(const Graph& whole, const Graph& micro_batch,
                                int count) {
  return Verifier(whole, micro_batch, count).Run();
}

}  // namespace partita
