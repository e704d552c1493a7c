// Splits a body at its ops that are not elementwise.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/unfused/body_segments.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

class Divider {
 public:
  explicit Divider(const OpView& fused)
      : fused_(fused), body_(fused.region(0)) {}

  absl::StatusOr<std::vector<BodySegment>> Run() {
    for (const OpView& op : body_.ops()) {
      if (op.is(kConstant)) {
        PARTITA_RETURN_IF_ERROR(CheckKnown(op));
        continue;
      }
      const bool joins = op.op().traits.elementwise && op.num_results() == 1;
      if (!joins || !HasExtentsOfRun(op)) PARTITA_RETURN_IF_ERROR(EndRun());
      if (joins) {
        run_.push_back(op.id());
      } else {
        PARTITA_RETURN_IF_ERROR(AddOp(op));
      }
    }
    PARTITA_RETURN_IF_ERROR(EndRun());
    return std::move(segments_);
  }

 private:
  using ValueMap = absl::flat_hash_map<ValueId, ValueId>;

  absl::Status CheckKnown(const OpView& constant) const {
    if (constant.result(0).is_constant()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        fused_.ToString(), ": found ", constant.ToString(),
        " without its bytes in the body; expected a plan that has them"));
  }

  bool HasExtentsOfRun(const OpView& op) const {
    return run_.empty() || op.result_type(0).dims ==
                               body_.view(run_.back()).result_type(0).dims;
  }

  Layout LayoutOf(ValueId value) const {
    const Value& record = body_.value(value);
    if (!record.defining_node.valid()) {
      return fused_.operand_type(record.index).layout;
    }
    const auto output = absl::c_find(body_.outputs(), value);
    if (output != body_.outputs().end()) {
      const auto result = output - body_.outputs().begin();
      return fused_.result_type(static_cast<int>(result)).layout;
    }
    const TensorType& first = fused_.result_type(0);
    return record.type.dims == first.dims ? first.layout : Layout();
  }

  // The constant of the value, in the body or as the fused node's operand.
  LiteralId LiteralOf(ValueId value) const {
    ValueView view(&body_, value);
    if (view.is_input()) view = fused_.operand(body_.value(value).index);
    return view.is_constant() ? view.defining_op()->attr_literal("value")
                              : LiteralId();
  }

  ValueId AddTwin(ValueId value, Graph& graph) const {
    const TensorType type = body_.type(value).RowMajor();
    const LiteralId literal = LiteralOf(value);
    if (!literal.valid()) return graph.AddInput("", type);
    const ValueId constant = graph.AddConstant(literal);
    graph.value(constant).type = type;
    return constant;
  }

  // Finishes a segment whose operands and results are known.
  absl::Status Add(NodeSpec spec, BodySegment segment) {
    segment.graph = std::make_unique<Graph>("segment", &body_.literals());
    Graph& graph = *segment.graph;
    ValueMap twins;
    for (ValueId operand : segment.operands) {
      const auto [twin, is_new] = twins.try_emplace(operand);
      if (is_new) twin->second = AddTwin(operand, graph);
      spec.operands.push_back(twin->second);
    }
    PARTITA_ASSIGN_OR_RETURN(segment.id, graph.AddNode(std::move(spec)));
    for (const auto& [value, twin] : twins) {
      graph.value(twin).type.layout = LayoutOf(value);
    }
    const ValueIds& results = graph.node(segment.id).results;
    for (size_t i = 0; i < results.size(); ++i) {
      graph.value(results[i]).type.layout = LayoutOf(segment.results[i]);
    }
    segments_.push_back(std::move(segment));
    return absl::OkStatus();
  }

  absl::Status AddOp(const OpView& op) {
    BodySegment segment;
    const Node& node = op.node();
    segment.operands.assign(node.operands.begin(), node.operands.end());
    segment.results.assign(node.results.begin(), node.results.end());
    NodeSpec spec = CopyOf(node, {}, &body_.literals());
    spec.placement = {};
    return Add(std::move(spec), std::move(segment));
  }

  bool IsReadBehindRun(ValueId value) const {
    return body_.is_output(value) ||
           absl::c_any_of(body_.value(value).uses, [&](const Use& use) {
             return !absl::c_linear_search(run_, use.node);
           });
  }

  absl::Status EndRun() {
    if (run_.empty()) return absl::OkStatus();
    BodySegment segment;
    auto loop = std::make_unique<Graph>("body", &body_.literals());
    ValueMap inner;
    for (NodeId id : run_) {
      PARTITA_RETURN_IF_ERROR(AddToLoop(id, *loop, inner, segment));
    }
    std::vector<ValueId> outputs;
    for (ValueId result : segment.results) outputs.push_back(inner.at(result));
    loop->SetOutputs(std::move(outputs));
    run_.clear();
    NodeSpec spec{.op = &kFused};
    spec.regions.push_back(std::move(loop));
    return Add(std::move(spec), std::move(segment));
  }

  absl::Status AddToLoop(NodeId id, Graph& loop, ValueMap& inner,
                         BodySegment& segment) const {
    const Node& node = body_.node(id);
    ValueIds operands;
    for (ValueId operand : node.operands) {
      const auto [twin, is_new] = inner.try_emplace(operand);
      if (is_new) twin->second = AddToLoop(operand, loop, segment);
      operands.push_back(twin->second);
    }
    NodeSpec spec = CopyOf(node, std::move(operands), &body_.literals());
    spec.placement = {};
    PARTITA_ASSIGN_OR_RETURN(const ValueId result,
                             loop.AddValue(std::move(spec)));
    inner[node.results[0]] = result;
    if (IsReadBehindRun(node.results[0])) {
      segment.results.push_back(node.results[0]);
    }
    return absl::OkStatus();
  }

  // Adds a value that no op of the run makes: a constant of the body, or an
  // operand.
  ValueId AddToLoop(ValueId value, Graph& loop, BodySegment& segment) const {
    const ValueView view(&body_, value);
    if (view.is_constant()) return loop.AddConstant(LiteralOf(value));
    segment.operands.push_back(value);
    return loop.AddInput("", view.type().RowMajor());
  }

  const OpView fused_;
  const Graph& body_;
  std::vector<NodeId> run_;
  std::vector<BodySegment> segments_;
};

}  // namespace

absl::StatusOr<std::vector<BodySegment>> SegmentsOf(const OpView& fused) {
  return Divider(fused).Run();
}

}  // namespace partita
