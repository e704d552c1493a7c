// Follows the first dimensions of inputs through the nodes, and excludes inputs
// that are combined with the samples along another dimension.
// SPDX-License-Identifier: Apache-2.0

#include "graph/batch_inputs.h"

#include <cstddef>
#include <numeric>

#include "absl/algorithm/container.h"
#include "graph/dimension_rule.h"
#include "graph/op_def.h"
#include "graph/op_view.h"

namespace partita {
namespace {

constexpr int kNone = -1;

// The dimension of a value that comes from the first dimension of an input.
struct Followed {
  int dim = kNone;
  int input = kNone;
};

// An operand asks to split the node along a factor. kNone: the node needs the
// whole operand.
struct Claim {
  int input = kNone;
  int factor = kNone;
  bool kept = false;  // results are split along it too
};

// A node is split like one input, and another input is in conflict with this.
struct Conflict {
  int winner = kNone;  // kNone: the node needs the loser whole in any case
  int loser = kNone;
};

class BatchInputs {
 public:
  explicit BatchInputs(const Graph& graph) : graph_(graph) {
    for (ValueId input : graph.inputs()) {
      const TensorType& type = graph.type(input);
      if (first_ == kNone && type.rank() > 0) {
        first_ = static_cast<int>(inputs_.size());
        extent_ = type.dims[0];
      }
      inputs_.push_back(type.rank() > 0 && type.dims[0] == extent_);
    }
  }

  std::vector<bool> Find() {
    if (absl::c_count(inputs_, true) < 2) return inputs_;
    do {
      Follow();
    } while (LeaveOut());
    return inputs_;
  }

 private:
  void Follow() {
    conflicts_.clear();
    same_as_.resize(inputs_.size());
    std::iota(same_as_.begin(), same_as_.end(), 0);
    followed_.assign(graph_.value_id_bound(), Followed());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i]) continue;
      followed_[graph_.inputs()[i].index] = {0, static_cast<int>(i)};
    }
    for (const OpView& op : graph_.ops()) FollowThrough(op);
    for (ValueId output : graph_.outputs()) {
      if (followed_[output.index].dim > 0) NeedWhole(output);
    }
    for (const VariableUpdate& update : graph_.updates()) {
      NeedWhole(update.value);
    }
  }

  void NeedWhole(ValueId value) {
    const Followed& followed = followed_[value.index];
    if (followed.dim != kNone) conflicts_.push_back({kNone, followed.input});
  }

  void FollowThrough(const OpView& op) {
    const auto is_followed = [&](int i) {
      return followed_[op.operand(i).id().index].dim != kNone;
    };
    bool any = false;
    for (int i = 0; i < op.num_operands(); ++i) any |= is_followed(i);
    if (!any) return;
    const DimensionRule rule = op.op().dimension_rule != nullptr
                                   ? op.op().dimension_rule(op)
                                   : WholeRule(op);
    std::vector<Claim> claims;
    for (int i = 0; i < op.num_operands(); ++i) {
      if (is_followed(i)) claims.push_back(ClaimOf(op, rule, i));
    }
    const Claim winner = *absl::c_max_element(
        claims,
        [&](const Claim& a, const Claim& b) { return Rank(a) < Rank(b); });
    Settle(claims, winner);
    if (winner.factor != kNone) Split(op, rule, winner);
  }

  Claim ClaimOf(const OpView& op, const DimensionRule& rule,
                int operand) const {
    const Followed& followed = followed_[op.operand(operand).id().index];
    const auto& factors = rule.operands[operand][followed.dim];
    if (factors.empty()) return {.input = followed.input};
    const Factor& factor = rule.factors[factors.front()];
    const bool kept = factor.kind == Factor::Kind::kKept;
    const bool summed = factor.kind == Factor::Kind::kReduced &&
                        factor.reduction == Reduction::kSum;
    if (!kept && !summed) return {.input = followed.input};
    return {followed.input, factors.front(), kept};
  }

  // Claims of samples go first, then factors that results keep, then factors
  // that are summed over.
  int Rank(const Claim& claim) const {
    if (claim.factor == kNone) return 0;
    return 1 + (claim.kept ? 1 : 0) + (HasSamples(claim.input) ? 2 : 0);
  }

  void Settle(const std::vector<Claim>& claims, const Claim& winner) {
    const bool split = winner.factor != kNone;
    for (const Claim& claim : claims) {
      if (split && claim.factor == winner.factor) {
        same_as_[InputFor(claim.input)] = InputFor(winner.input);
      } else {
        conflicts_.push_back({split ? winner.input : kNone, claim.input});
      }
    }
  }

  void Split(const OpView& op, const DimensionRule& rule, const Claim& winner) {
    for (int i = 0; i < op.num_operands(); ++i) {
      if (DimensionOf(rule.operands[i], winner.factor) >= 0 &&
          IsWhole(op.operand(i).id())) {
        conflicts_.push_back({kNone, winner.input});
      }
    }
    for (int i = 0; i < op.num_results(); ++i) {
      followed_[op.result(i).id().index] = {
          DimensionOf(rule.results[i], winner.factor), winner.input};
    }
  }

  // True for an input without samples and for a variable.
  bool IsWhole(ValueId value) const {
    if (followed_[value.index].dim != kNone) return false;
    const NodeId maker = graph_.value(value).defining_node;
    return !maker.valid() || graph_.view(maker).op().traits.reads_variable;
  }

  // The representative of all inputs that are split alike.
  int InputFor(int input) const {
    while (same_as_[input] != input) input = same_as_[input];
    return input;
  }

  bool HasSamples(int input) const {
    return InputFor(input) == InputFor(first_);
  }

  // False if no input was excluded. Inputs in conflict with samples, or needed
  // whole, are excluded before inputs in conflict with others.
  bool LeaveOut() {
    bool any = false;
    for (const Conflict& conflict : conflicts_) {
      if (conflict.winner != kNone && !HasSamples(conflict.winner)) continue;
      any |= LeaveOut(conflict.loser);
    }
    return any || absl::c_any_of(conflicts_, [&](const Conflict& conflict) {
             return LeaveOut(conflict.loser);
           });
  }

  bool LeaveOut(int input) {
    if (HasSamples(input)) return false;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (InputFor(static_cast<int>(i)) == InputFor(input)) inputs_[i] = false;
    }
    return true;
  }

  const Graph& graph_;
  int first_ = kNone;  // of the inputs, with samples
  int64_t extent_ = 0;
  std::vector<bool> inputs_;
  std::vector<Followed> followed_;  // by value id
  std::vector<int> same_as_;        // by input: a forest
  std::vector<Conflict> conflicts_;
};

}  // namespace

std::vector<bool> FindBatchInputs(const Graph& graph) {
  return BatchInputs(graph).Find();
}

}  // namespace partita
