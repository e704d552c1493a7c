// Walks the placed graph and finds the optimised node of each placed node.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/verify_split.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/check_sharding.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "placement/partition/same_node.h"

namespace partita {
namespace {

constexpr size_t kMaxFaults = 20;

bool IsRead(const OpView& op) { return op.is(kConstant) || op.is(kVariable); }
bool Carries(const OpView& op) {
  return op.is(kCopy) || op.is(kReorder) || op.is(kBucket);
}

std::string SourceKey(const OpView& op) {
  return op.is(kVariable)
             ? absl::StrCat("variable ", op.attr_string("name"))
             : absl::StrCat("constant ", op.attr_literal("value").index);
}

class Verifier {
 public:
  Verifier(const Graph& optimised, const Graph& placed)
      : optimised_(optimised),
        placed_(placed),
        of_optimised_(optimised),
        of_placed_(placed) {}

  absl::Status Run() {
    NumberInputs();
    NumberOptimised();
    WalkPlaced();
    CompareResults();
    if (faults_.empty()) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("bug: placing @", optimised_.name(),
                     " changed it: ", absl::StrJoin(faults_, "\n")));
  }

 private:
  void Fault(std::string text) {
    if (faults_.size() < kMaxFaults) faults_.push_back(std::move(text));
  }

  void NumberInputs() {
    if (optimised_.inputs().size() != placed_.inputs().size()) {
      return Fault(absl::StrCat("found ", placed_.inputs().size(),
                                " inputs; expected ",
                                optimised_.inputs().size()));
    }
    for (size_t i = 0; i < optimised_.inputs().size(); ++i) {
      if (!SameExtents(optimised_.type(optimised_.inputs()[i]),
                       placed_.type(placed_.inputs()[i]))) {
        Fault(absl::StrCat("input ", i, ": found another type"));
      }
      of_optimised_.Set(optimised_.inputs()[i], next_);
      of_placed_.Set(placed_.inputs()[i], next_++);
    }
  }

  int SourceNumber(const OpView& op) {
    const auto [it, inserted] = sources_.emplace(SourceKey(op), next_);
    if (inserted) ++next_;
    return it->second;
  }

  void NumberOptimised() {
    for (const OpView& op : optimised_.ops()) {
      if (IsRead(op)) {
        of_optimised_.Set(op.result(0).id(), SourceNumber(op));
        continue;
      }
      by_operands_[OperandNumbers(op, of_optimised_)].push_back(
          computing_.size());
      computing_.push_back(op);
      for (ValueId result : op.node().results)
        of_optimised_.Set(result, next_++);
    }
    is_found_.resize(computing_.size(), false);
  }

  static std::vector<int> OperandNumbers(const OpView& op,
                                         const Numbering& numbering) {
    std::vector<int> numbers;
    for (ValueId operand : op.node().operands) {
      numbers.push_back(numbering.Of(operand));
    }
    return numbers;
  }

  // The first optimised node, not matched yet, with the same op and operands.
  // If there is none, the first unmatched node, so that the error shows what
  // differs.
  size_t Find(const OpView& placed) {
    while (first_ < computing_.size() && is_found_[first_]) ++first_;
    const auto same = by_operands_.find(OperandNumbers(placed, of_placed_));
    if (same == by_operands_.end()) return first_;
    for (size_t node : same->second) {
      if (!is_found_[node] && SameNode(computing_[node], placed)) return node;
    }
    return first_;
  }

  void WalkPlaced() {
    for (const OpView& op : placed_.ops()) {
      if (IsRead(op)) {
        of_placed_.Set(op.result(0).id(), SourceNumber(op));
        CheckSourceSharding(op);
      } else if (Carries(op)) {
        for (int i = 0; i < op.num_results(); ++i) Carry(op, i);
      } else if (const size_t node = Find(op); node == computing_.size()) {
        return Fault(absl::StrCat(op.ToString(),
                                  ": found a node that the optimised graph "
                                  "does not have"));
      } else {
        is_found_[node] = true;
        Compare(computing_[node], op);
        CheckShardingOf(op);
      }
    }
    for (size_t node = 0; node < computing_.size(); ++node) {
      if (is_found_[node]) continue;
      Fault(absl::StrCat(computing_[node].ToString(),
                         ": found no placed node for it"));
    }
  }

  void Carry(const OpView& op, int i) {
    if (!SameExtents(op.operand_type(i), op.result_type(i))) {
      Fault(absl::StrCat(op.ToString(), ": found ",
                         op.result_type(i).ToString(), "; expected ",
                         op.operand_type(i).ToString()));
    }
    of_placed_.Set(op.result(i).id(), of_placed_.Of(op.operand(i).id()));
  }

  void Compare(const OpView& before, const OpView& after) {
    if (!SameNode(before, after)) {
      Fault(absl::StrCat(after.ToString(),
                         ": found another op, attributes, "
                         "body or type than of ",
                         before.ToString()));
    }
    for (int i = 0; i < before.num_operands() && i < after.num_operands();
         ++i) {
      if (of_optimised_.Of(before.operand(i).id()) !=
          of_placed_.Of(after.operand(i).id())) {
        Fault(absl::StrCat(after.ToString(), ": found operand ", i, " %",
                           after.operand(i).name(), "; expected the value %",
                           before.operand(i).name()));
      }
    }
    for (int i = 0; i < before.num_results() && i < after.num_results(); ++i) {
      of_placed_.Set(after.result(i).id(),
                     of_optimised_.Of(before.result(i).id()));
    }
  }

  void CompareResults() {
    if (optimised_.outputs().size() != placed_.outputs().size() ||
        optimised_.updates().size() != placed_.updates().size()) {
      return Fault("found other numbers of outputs or updates");
    }
    for (size_t i = 0; i < placed_.outputs().size(); ++i) {
      if (of_optimised_.Of(optimised_.outputs()[i]) !=
              of_placed_.Of(placed_.outputs()[i]) ||
          optimised_.output_names()[i] != placed_.output_names()[i]) {
        Fault(absl::StrCat("output ", optimised_.output_names()[i],
                           ": found another value"));
      }
    }
    for (size_t i = 0; i < placed_.updates().size(); ++i) {
      const VariableUpdate& before = optimised_.updates()[i];
      const VariableUpdate& after = placed_.updates()[i];
      if (before.variable != after.variable ||
          of_optimised_.Of(before.value) != of_placed_.Of(after.value)) {
        Fault(absl::StrCat("update of ", before.variable,
                           ": found another value"));
      }
    }
  }

  static Sharding At(const std::vector<Sharding>& shardings, int i) {
    return shardings.empty() ? Sharding() : shardings[i];
  }

  void CheckSourceSharding(const OpView& op) {
    const Sharding sharding = At(op.node().placement.results, 0);
    const bool whole = sharding.kind == Sharding::Kind::kReplicated;
    const bool split = sharding.kind == Sharding::Kind::kSplit &&
                       sharding.dim >= 0 &&
                       sharding.dim < op.result_type(0).rank();
    if (!whole && !split) {
      Fault(absl::StrCat(op.ToString(), ": found a partial constant"));
    }
  }

  void CheckShardingOf(const OpView& op) {
    const absl::Status status = CheckSharding(op);
    if (!status.ok())
      Fault(absl::StrCat(op.ToString(), ": ", status.message()));
  }

  const Graph& optimised_;
  const Graph& placed_;
  Numbering of_optimised_;
  Numbering of_placed_;
  std::map<std::string, int> sources_;
  // Computing nodes of the optimised graph: all of them, those with a placed
  // node, the first that may lack one, and an index by operand numbers.
  std::vector<OpView> computing_;
  std::vector<bool> is_found_;
  size_t first_ = 0;
  std::map<std::vector<int>, std::vector<size_t>> by_operands_;
  int next_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace

absl::Status VerifySplit(const Graph& optimised, const Graph& placed) {
  return Verifier(optimised, placed).Run();
}

}  // namespace partita
