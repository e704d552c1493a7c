// Walks from the losses back to the requested values.
// SPDX-License-Identifier: Apache-2.0

#include "graph/gradient/gradient.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/op_view.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Tensors whose concatenation along the axis equals a sum.
struct ConcatenatedSlices {
  ValueIds slices;
  int64_t axis = 0;
};

struct PaddedSlice {
  ValueId value;
  int64_t axis;
  int64_t begin;
  int64_t end;
};

bool FillsWithZeros(const OpView& pad) {
  return pad.attr_string("mode") == "constant" &&
         pad.attr_number("value").To<double>() == 0;
}

std::optional<PaddedSlice> SliceOf(const Graph& graph, ValueId part) {
  const NodeId node = graph.value(part).defining_node;
  if (!node.valid() || graph.node(node).op != &kPad) return std::nullopt;
  const OpView pad = graph.view(node);
  if (!FillsWithZeros(pad)) return std::nullopt;
  std::optional<PaddedSlice> slice;
  for (int d = 0; d < pad.operand_type(0).rank(); ++d) {
    const int64_t before = pad.attr_ints("before")[d];
    const int64_t after = pad.attr_ints("after")[d];
    if (before == 0 && after == 0) continue;
    if (slice.has_value() || before < 0 || after < 0) return std::nullopt;
    slice = PaddedSlice{pad.operand(0).id(), d, before,
                        before + pad.operand_type(0).dims[d]};
  }
  return slice;
}

// The sum of `parts` of one type, if each is a slice padded with zeros along
// one axis, and the slices fill the axis without overlap. Gradients of queries,
// keys and values that attention slices from one tensor have this form. Nothing
// otherwise.
std::optional<ConcatenatedSlices> FindConcatenation(
    const Graph& graph, absl::Span<const ValueId> parts) {
  std::vector<PaddedSlice> slices;
  for (ValueId part : parts) {
    const std::optional<PaddedSlice> slice = SliceOf(graph, part);
    if (!slice.has_value()) return std::nullopt;
    slices.push_back(*slice);
  }
  std::sort(slices.begin(), slices.end(),
            [](const PaddedSlice& a, const PaddedSlice& b) {
              return a.begin < b.begin;
            });
  ConcatenatedSlices concatenated{.axis = slices.front().axis};
  int64_t end = 0;
  for (const PaddedSlice& slice : slices) {
    if (slice.axis != concatenated.axis || slice.begin != end)
      return std::nullopt;
    concatenated.slices.push_back(slice.value);
    end = slice.end;
  }
  if (end != graph.type(parts[0]).dims[concatenated.axis]) return std::nullopt;
  return concatenated;
}

std::string Describe(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  const std::string name =
      value.name.empty() ? absl::StrCat(id.index) : value.name;
  return absl::StrCat("@", graph.name(), ": %", name, ": found ",
                      value.type.ToString());
}

absl::Status CheckFloat(const Graph& graph, ValueId id) {
  if (IsFloat(graph.type(id).dtype)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(Describe(graph, id),
                   "; expected a float: only floats have gradients; leave it "
                   "out or cast it"));
}

absl::Status CheckLoss(const Graph& graph, const Loss& loss) {
  PARTITA_RETURN_IF_ERROR(CheckFloat(graph, loss.value));
  const TensorType type = graph.type(loss.value).RowMajor();
  if (!loss.gradient.valid()) {
    if (type.num_elements() == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        Describe(graph, loss.value),
        "; expected a loss of one element, or a gradient of it; reduce it "
        "to its sum or mean"));
  }
  if (graph.type(loss.gradient).RowMajor() == type) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      Describe(graph, loss.gradient), " as the gradient of a loss; expected ",
      type.ToString(), " like the loss; reshape or cast it"));
}

absl::Status NoGradient(const OpView& op) {
  const std::string& location = op.node().location;
  return absl::UnimplementedError(absl::StrCat(
      location, location.empty() ? "" : ": ", op.ToString(),
      ": found no gradient of ", op.op_name(),
      " on the path from the loss to the requested values; expected ops "
      "with a gradient (docs/internals/gradients.md); replace it, or do not "
      "request values before it"));
}

class BackwardPass {
 public:
  BackwardPass(Graph& graph, absl::Span<const ValueId> wanted)
      : graph_(graph),
        forward_(graph.order()),
        depends_(graph.value_id_bound(), false),
        parts_(graph.value_id_bound()) {
    for (ValueId id : wanted) depends_[id.index] = true;
    for (NodeId id : forward_) MarkDependents(id);
  }

  void Seed(const Loss& loss) {
    const ValueId gradient =
        loss.gradient.valid() ? loss.gradient : Filled(loss.value, 1);
    AddPart(loss.value, gradient);
  }

  absl::Status Run() {
    for (auto it = forward_.rbegin(); it != forward_.rend(); ++it) {
      if (!IsOnPath(*it)) continue;
      PARTITA_RETURN_IF_ERROR(Visit(*it));
    }
    return absl::OkStatus();
  }

  // Call after Run.
  ValueId Total(ValueId id) {
    const ValueId total = SumOfParts(id);
    return total.valid() ? total : Filled(id, 0);
  }

 private:
  // A result depends on a requested value if a differentiable operand does.
  void MarkDependents(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.op->gradient == ZeroGradient) return;
    const bool depends =
        std::any_of(node.operands.begin(), node.operands.end(),
                    [&](ValueId operand) { return Depends(operand); });
    if (!depends) return;
    for (ValueId result : node.results) {
      if (IsFloat(graph_.type(result).dtype)) depends_[result.index] = true;
    }
  }

  bool Depends(ValueId id) const { return depends_[id.index]; }

  bool IsOnPath(NodeId id) const {
    const Node& node = graph_.node(id);
    const bool reached = std::any_of(
        node.results.begin(), node.results.end(), [&](ValueId result) {
          return Depends(result) && !parts_[result.index].empty();
        });
    return reached &&
           std::any_of(node.operands.begin(), node.operands.end(),
                       [&](ValueId operand) { return Depends(operand); });
  }

  absl::Status Visit(NodeId id) {
    if (graph_.node(id).op->gradient == nullptr) {
      return NoGradient(graph_.view(id));
    }
    const ValueIds operands = graph_.node(id).operands;
    const ValueIds results = graph_.node(id).results;
    std::vector<ValueId> grads;
    for (ValueId result : results) grads.push_back(SumOfParts(result));
    std::vector<bool> needed;
    for (ValueId operand : operands) needed.push_back(Depends(operand));
    GradBuilder builder(graph_, id, std::move(grads), std::move(needed));
    PARTITA_RETURN_IF_ERROR(graph_.node(id).op->gradient(builder));
    for (size_t i = 0; i < operands.size(); ++i) {
      const ValueId part = builder.yielded()[i];
      if (part.valid()) AddPart(operands[i], part);
    }
    return absl::OkStatus();
  }

  void AddPart(ValueId id, ValueId part) { parts_[id.index].push_back(part); }

  // The sum of the gradients so far, which replaces them; invalid if there are
  // none.
  ValueId SumOfParts(ValueId id) {
    std::vector<ValueId>& parts = parts_[id.index];
    if (parts.empty()) return {};
    if (parts.size() > 1) parts = {Sum(parts, id)};
    return parts[0];
  }

  ValueId Sum(absl::Span<const ValueId> parts, ValueId of) {
    if (std::optional<ConcatenatedSlices> concatenated =
            FindConcatenation(graph_, parts)) {
      return Make(kConcat, std::move(concatenated->slices),
                  {{"axis", concatenated->axis}}, of);
    }
    ValueId sum = parts[0];
    for (ValueId part : parts.subspan(1)) sum = Make(kAdd, {sum, part}, {}, of);
    return sum;
  }

  ValueId Filled(ValueId like, double value) {
    const TensorType& type = graph_.type(like);
    return Make(
        kFill, {},
        {{"dtype", type.dtype},
         {"shape", std::vector<int64_t>(type.dims.begin(), type.dims.end())},
         {"value", Number(value)}},
        like);
  }

  // Makes a node in the scope of the node that defines `value`. Cannot fail:
  // its types are those of existing values.
  ValueId Make(const OpDef& op, ValueIds operands, Attributes attributes,
               ValueId value) {
    NodeSpec spec{.op = &op,
                  .operands = std::move(operands),
                  .attributes = std::move(attributes)};
    const NodeId node = graph_.value(value).defining_node;
    if (node.valid()) {
      spec.scope = graph_.node(node).scope;
      spec.location = graph_.node(node).location;
    }
    return *graph_.AddValue(std::move(spec));
  }

  Graph& graph_;
  const std::vector<NodeId> forward_;        // the nodes before the pass
  std::vector<bool> depends_;                // by value id: on a requested one
  std::vector<std::vector<ValueId>> parts_;  // by value id: its gradients
};

}  // namespace

absl::StatusOr<std::vector<ValueId>> AddGradients(
    Graph& graph, absl::Span<const Loss> losses,
    absl::Span<const ValueId> wanted) {
  for (const Loss& loss : losses) {
    PARTITA_RETURN_IF_ERROR(CheckLoss(graph, loss));
  }
  for (ValueId id : wanted) PARTITA_RETURN_IF_ERROR(CheckFloat(graph, id));
  BackwardPass pass(graph, wanted);
  for (const Loss& loss : losses) pass.Seed(loss);
  PARTITA_RETURN_IF_ERROR(pass.Run());
  std::vector<ValueId> gradients;
  for (ValueId id : wanted) gradients.push_back(pass.Total(id));
  return gradients;
}

absl::StatusOr<std::vector<ValueId>> AddVariableGradients(
    Graph& graph, ValueId loss, absl::Span<const std::string> variables) {
  std::vector<ValueId> reads;
  std::vector<int> counts;  // reads of each variable
  for (const std::string& variable : variables) {
    const size_t before = reads.size();
    for (const OpView& op : graph.ops(kVariable)) {
      if (op.attr_string("name") == variable)
        reads.push_back(op.result(0).id());
    }
    counts.push_back(static_cast<int>(reads.size() - before));
    if (counts.back() > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "@", graph.name(), ": found no read of variable @", variable,
        "; expected one to differentiate by; leave the variable out"));
  }
  const Loss whole = {loss, {}};
  PARTITA_ASSIGN_OR_RETURN(
      const std::vector<ValueId> parts,
      AddGradients(graph, absl::MakeConstSpan(&whole, 1), reads));
  std::vector<ValueId> gradients;
  auto next = parts.begin();
  for (int count : counts) {
    ValueId sum = *next++;
    for (int i = 1; i < count; ++i) {
      sum = *graph.AddValue({.op = &kAdd, .operands = {sum, *next++}});
    }
    gradients.push_back(sum);
  }
  return gradients;
}

}  // namespace partita
