// Walks both graphs side by side.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/verify_micro_batches.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/cut.h"
#include "graph/instance.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "placement/partition/same_node.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

constexpr size_t kMaxFaults = 20;

// Pins say how devices share out a node, of which the whole is meant here.
std::unique_ptr<const Graph> Unpinned(const Graph& graph) {
  std::unique_ptr<Graph> clone = graph.Clone(&graph.literals());
  for (const OpView& op : clone->ops()) {
    clone->node(op.id()).placement = Placement();
  }
  return clone;
}

class Verifier {
 public:
  Verifier(const Graph& whole, const Graph& divided, int count)
      : whole_(whole.Clone(&whole.literals())),
        divided_(Unpinned(divided)),
        count_(count),
        of_whole_(*whole_),
        of_divided_(*divided_),
        sum_of_(divided.value_id_bound(), -1) {
    for (int m = 0; m < count; ++m) parts_.push_back(absl::StrCat(m));
  }

  absl::Status Run() {
    CompareInputs();
    Walk();
    CompareResults();
    if (faults_.empty()) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(
        "bug: dividing @", divided_->name(), " into ", count_,
        " micro-batches changed it: ", absl::StrJoin(faults_, "\n")));
  }

 private:
  void Fault(absl::string_view where, absl::string_view what) {
    if (faults_.size() < kMaxFaults) {
      faults_.push_back(absl::StrCat(where, ": found ", what));
    }
  }

  // How a value lies, as its types say: all of it, or a part along a dimension.
  Sharding LiesAs(const TensorType& whole, const TensorType& part) {
    for (int d = 0; d < whole.rank() && d < part.rank(); ++d) {
      if (whole.dims[d] == part.dims[d]) continue;
      TensorType longer = part;
      longer.dims[d] *= count_;
      if (!SameExtents(longer, whole)) break;
      return {.kind = Kind::kSplit, .dim = d};
    }
    if (!SameExtents(whole, part)) {
      Fault(part.ToString(), absl::StrCat("no part of ", whole.ToString()));
    }
    return {};
  }

  void CompareInputs() {
    if (whole_->inputs().size() != divided_->inputs().size()) {
      return Fault("inputs", "another number of them");
    }
    for (size_t i = 0; i < divided_->inputs().size(); ++i) {
      const ValueId before = whole_->inputs()[i];
      const ValueId after = divided_->inputs()[i];
      if (LiesAs(whole_->type(before), divided_->type(after)).dim > 0) {
        Fault(absl::StrCat("input ", i), "parts along an inner dimension");
      }
      of_whole_.Set(before, next_);
      of_divided_.Set(after, next_++);
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

  // A constant whose part is the same in all micro-batches.
  bool IsPart(const ValueView& whole, const ValueView& part,
              const Sharding& lies) const {
    const NodeId from = whole_->value(whole.id()).defining_node;
    const NodeId to = divided_->value(part.id()).defining_node;
    if (lies.kind != Kind::kSplit || !from.valid() || !to.valid() ||
        !whole_->view(from).is(kConstant) ||
        !divided_->view(to).is(kConstant)) {
      return false;
    }
    const LiteralPool& literals = divided_->literals();
    const LiteralId all = whole_->view(from).attr_literal("value");
    const LiteralId one = divided_->view(to).attr_literal("value");
    if (!literals.has_bytes(all) || !literals.has_bytes(one)) return false;
    const HostTensor& expected = literals.tensor(one);
    for (int m = 0; m < count_; ++m) {
      const HostTensor found =
          CutInstance(literals.tensor(all), lies, m, count_);
      if (found.byte_span() != expected.byte_span()) return false;
    }
    return true;
  }

  void Walk() {
    NumberConstants(*whole_, of_whole_);
    NumberConstants(*divided_, of_divided_);
    std::vector<OpView> nodes = whole_->ops();
    std::erase_if(nodes, [](const OpView& op) { return op.is(kConstant); });
    size_t next = 0;
    for (const OpView& op : divided_->ops()) {
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

  // The sum stands for the whole value.
  void FinishSum(const OpView& op) {
    const int number = sum_of_[op.operand(0).id().index];
    if (number < 0) Fault(op.ToString(), "a sum of what is no part of a sum");
    if (op.attr_int("micro_batches") != count_) {
      Fault(op.ToString(), "a sum over another number of micro-batches");
    }
    of_divided_.Set(op.result(0).id(), number);
  }

  void Compare(const OpView& before, const OpView& after) {
    if (&before.op() != &after.op() ||
        before.num_operands() != after.num_operands() ||
        before.num_results() != after.num_results()) {
      return Fault(after.ToString(),
                   absl::StrCat("another op than of ", before.ToString()));
    }
    const Placement cut = CutOf(before, after);
    if (cut.placed()) {
      CompareCut(before, after, cut);
    } else if (!SameNode(before, after)) {
      Fault(after.ToString(), "other attributes, body or types");
    }
    for (int i = 0; i < before.num_results(); ++i) {
      of_whole_.Set(before.result(i).id(), next_);
      const bool partial = ShardingOf(cut.results, i).kind == Kind::kPartial;
      if (partial) sum_of_[after.result(i).id().index] = next_;
      of_divided_.Set(after.result(i).id(), partial ? -1 : next_);
      ++next_;
    }
  }

  // The operands are compared on the way. No devices: the node is whole.
  Placement CutOf(const OpView& before, const OpView& after) {
    Placement cut{.devices = parts_};
    bool is_cut = false;
    for (int i = 0; i < before.num_operands(); ++i) {
      cut.operands.push_back(
          LiesAs(before.operand_type(i), after.operand_type(i)));
      const int number = of_divided_.Of(after.operand(i).id());
      const bool same =
          number >= 0 && number == of_whole_.Of(before.operand(i).id());
      if (!same &&
          !IsPart(before.operand(i), after.operand(i), cut.operands[i])) {
        Fault(after.ToString(), absl::StrCat("another operand ", i));
      }
      is_cut |= cut.operands.back().kind == Kind::kSplit;
    }
    bool splits = false;
    for (int i = 0; i < before.num_results(); ++i) {
      cut.results.push_back(
          LiesAs(before.result_type(i), after.result_type(i)));
      splits |= cut.results.back().kind == Kind::kSplit;
    }
    if (!is_cut && !splits) return {};
    if (!splits) absl::c_fill(cut.results, Sharding{.kind = Kind::kPartial});
    return cut;
  }

  void CompareCut(const OpView& before, const OpView& after,
                  const Placement& cut) {
    whole_->node(before.id()).placement = cut;
    if (const absl::Status status = CheckCut(before); !status.ok()) {
      return Fault(after.ToString(), status.message());
    }
    for (int m = 0; m < count_; ++m) {
      const auto piece = CutNode(before, m);
      if (!piece.ok() || !IsInstance(after, m, (*piece)->ops()[0])) {
        return Fault(after.ToString(),
                     absl::StrCat("another node than the part of ",
                                  before.ToString(), " in micro-batch ", m));
      }
    }
  }

  static bool IsInstance(const OpView& after, int m, const OpView& piece) {
    if (!ChangesWithMicroBatch(after)) return SameNode(after, piece);
    const auto instance = CutNode(after, 0, m);
    if (!instance.ok()) return false;
    const OpView made = (*instance)->ops()[0];
    (*instance)->node(made.id()).attributes.Remove("advance");
    return SameNode(made, piece);
  }

  void CompareResults() {
    if (whole_->outputs().size() != divided_->outputs().size() ||
        whole_->updates().size() != divided_->updates().size()) {
      return Fault("outputs and updates", "another number of them");
    }
    for (size_t i = 0; i < divided_->outputs().size(); ++i) {
      const ValueId before = whole_->outputs()[i];
      const ValueId after = divided_->outputs()[i];
      const Sharding lies = LiesAs(whole_->type(before), divided_->type(after));
      if (of_divided_.Of(after) != of_whole_.Of(before) || lies.dim > 0 ||
          whole_->output_names()[i] != divided_->output_names()[i]) {
        Fault(absl::StrCat("output ", divided_->output_names()[i]),
              "another value");
      }
    }
    for (size_t i = 0; i < divided_->updates().size(); ++i) {
      const VariableUpdate& before = whole_->updates()[i];
      const VariableUpdate& after = divided_->updates()[i];
      if (of_divided_.Of(after.value) != of_whole_.Of(before.value) ||
          before.variable != after.variable ||
          !SameExtents(whole_->type(before.value),
                       divided_->type(after.value))) {
        Fault(absl::StrCat("update of ", before.variable), "another value");
      }
    }
  }

  const std::unique_ptr<Graph> whole_;  // takes on the cuts that are proved
  const std::unique_ptr<const Graph> divided_;
  const int count_;
  absl::InlinedVector<std::string, 1> parts_;
  Numbering of_whole_;
  Numbering of_divided_;
  std::vector<int> sum_of_;  // by value that is summed: its number when whole
  std::map<int, int> constants_;  // by literal: its number
  int next_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace

absl::Status VerifyMicroBatches(const Graph& whole, const Graph& divided,
                                int count) {
  return Verifier(whole, divided, count).Run();
}

}  // namespace partita
