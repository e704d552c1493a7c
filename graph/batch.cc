// Finds batches by name, and the nodes that sum over them.
// SPDX-License-Identifier: Apache-2.0

#include "graph/batch.h"

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/dimension_rule.h"
#include "graph/graph.h"
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

// Follows the first dimensions of inputs through the nodes, and excludes inputs
// that are combined with the samples along another dimension.
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

// By input: the inputs that FindBatch uses without names. Follows the inputs
// with the first extent of the first input through the nodes, by dimension
// rules. Repeats this as long as it finds inputs to exclude.
std::vector<bool> FindBatchInputs(const Graph& graph) {
  return BatchInputs(graph).Find();
}

// The outermost factor of the batch dimension of the first operand that has
// one; -1 if none. `batch_dims` is the batch dimension by value, or -1.
int BatchFactor(const OpView& op, const DimensionRule& rule,
                const std::vector<int>& batch_dims) {
  for (int i = 0; i < op.num_operands(); ++i) {
    const int dim = batch_dims[op.operand(i).id().index];
    if (dim < 0 || rule.operands[i][dim].empty()) continue;
    return rule.operands[i][dim].front();
  }
  return -1;
}

std::vector<bool> Named(const Graph& graph,
                        absl::Span<const std::string> names) {
  std::vector<bool> inputs;
  for (ValueId input : graph.inputs()) {
    inputs.push_back(graph.type(input).rank() > 0 &&
                     absl::c_linear_search(names, graph.value(input).name));
  }
  return inputs;
}

}  // namespace

Batch BatchOfInputs(const Graph& graph, std::vector<bool> inputs) {
  Batch batch{.inputs = std::move(inputs)};
  const auto first = absl::c_find(batch.inputs, true);
  if (first == batch.inputs.end()) return batch;
  const ValueId input = graph.inputs()[first - batch.inputs.begin()];
  batch.extent = graph.type(input).dims[0];
  return batch;
}

Batch FindBatch(const Graph& graph, absl::Span<const std::string> input_names) {
  std::vector<bool> inputs = Named(graph, input_names);
  if (!absl::c_linear_search(inputs, true)) inputs = FindBatchInputs(graph);
  return BatchOfInputs(graph, std::move(inputs));
}

std::string BatchText(const Graph& graph, const Batch& batch) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    if (!batch.inputs[i]) continue;
    const Value& input = graph.value(graph.inputs()[i]);
    texts.push_back(absl::StrCat(input.name, " ", input.type.ToString()));
  }
  if (texts.size() < 2) return absl::StrJoin(texts, "");
  const std::string last = std::move(texts.back());
  texts.pop_back();
  return absl::StrCat(absl::StrJoin(texts, ", "), " and ", last);
}

std::vector<bool> SumsOverBatch(const Graph& graph, const Batch& batch) {
  std::vector<bool> sums(graph.node_id_bound(), false);
  std::vector<int> batch_dims(graph.value_id_bound(), -1);
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    if (batch.inputs[i]) batch_dims[graph.inputs()[i].index] = 0;
  }
  for (const OpView& op : graph.ops()) {
    if (op.op().dimension_rule == nullptr) continue;
    const DimensionRule rule = op.op().dimension_rule(op);
    const int factor = BatchFactor(op, rule, batch_dims);
    if (factor < 0) continue;
    sums[op.id().index] = rule.factors[factor].kind == Factor::Kind::kReduced;
    for (int i = 0; i < op.num_results(); ++i) {
      batch_dims[op.result(i).id().index] =
          DimensionOf(rule.results[i], factor);
    }
  }
  return sums;
}

}  // namespace partita
