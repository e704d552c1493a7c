// Converts nodes, inputs and outputs into boxes, and uses into edges.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/read_boxes.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/text/names.h"
#include "graph/text/number_text.h"
#include "graph/text/printer.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

std::string AttributeText(const Graph& graph, const AttributeValue& value) {
  switch (KindOf(value)) {
    case AttributeKind::kInt:
      return absl::StrCat(std::get<int64_t>(value));
    case AttributeKind::kFloat:
      return DoubleText(std::get<double>(value));
    case AttributeKind::kBool:
      return std::get<bool>(value) ? "true" : "false";
    case AttributeKind::kString:
      return Quoted(std::get<std::string>(value));
    case AttributeKind::kInts:
      return absl::StrCat(
          "[", absl::StrJoin(std::get<std::vector<int64_t>>(value), ", "), "]");
    case AttributeKind::kFloats: {
      std::vector<std::string> texts;
      for (double v : std::get<std::vector<double>>(value)) {
        texts.push_back(DoubleText(v));
      }
      return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
    }
    case AttributeKind::kDType:
      return std::string(DTypeName(std::get<DType>(value)));
    case AttributeKind::kNumber:
      return NumberText(std::get<Number>(value));
    case AttributeKind::kLiteral:
      return LiteralText(graph.literals(), std::get<LiteralId>(value));
  }
  return "?";
}

// "all_reduce": what a copy or bucket does, as its commands are called;
// "conv+relu": the ops of a fused node, in its body's order.
std::string OpTitle(const OpView& node) {
  if (const auto collective = CollectiveOf(node); collective.has_value()) {
    return std::string(CollectiveName(*collective));
  }
  if (node.node().regions.empty()) return std::string(node.op_name());
  constexpr size_t kShown = 4;
  std::vector<std::string> ops;
  for (const OpView& inner : node.region(0).ops()) {
    if (!inner.is(kConstant)) ops.emplace_back(inner.op_name());
  }
  if (ops.empty()) return std::string(node.op_name());
  const size_t count = ops.size();
  ops.resize(std::min(count, kShown));
  return absl::StrCat(absl::StrJoin(ops, "+"),
                      count > kShown ? absl::StrCat("+", count - kShown) : "");
}

class BoxReader {
 public:
  BoxReader(const Plan& plan, const Entry& entry, ViewedEntry& view)
      : entry_(entry),
        graph_(*entry.graph),
        view_(view),
        names_(ValueNames(graph_)),
        maker_(graph_.value_id_bound(), -1) {
    for (size_t d = 0; d < plan.devices.size(); ++d) {
      devices_[plan.devices[d].traits.name] = static_cast<int>(d);
    }
  }

  BoxIndex Read() {
    index_.by_node.assign(graph_.node_id_bound(), -1);
    for (size_t i = 0; i < graph_.inputs().size(); ++i) AddInput(i);
    for (const OpView& node : graph_.ops()) {
      if (!node.is(kConstant)) AddNode(node);
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) AddOutput(i);
    return std::move(index_);
  }

 private:
  std::string Name(ValueId id) const {
    return absl::StrCat("%", names_[id.index]);
  }

  std::vector<int> Devices(const Placement& placement) const {
    std::vector<int> devices;
    for (const std::string& name : placement.devices) {
      const auto found = devices_.find(name);
      if (found != devices_.end()) devices.push_back(found->second);
    }
    return devices;
  }

  int Add(BoxView box) {
    view_.boxes.push_back(std::move(box));
    return static_cast<int>(view_.boxes.size()) - 1;
  }

  void AddInput(size_t i) {
    const ValueId value = graph_.inputs()[i];
    BoxView box;
    box.kind = BoxView::Kind::kInput;
    box.name = Name(value);
    box.op = "input";
    box.devices = Devices(graph_.input_placement(static_cast<int>(i)));
    box.results.push_back({box.name, graph_.type(value).ToString(), -1});
    maker_[value.index] = Add(std::move(box));
    index_.by_input.push_back(maker_[value.index]);
  }

  void AddNode(const OpView& op) {
    const Node& node = op.node();
    BoxView box;
    box.node = op.id();
    box.inserted = op.is(kCopy) || op.is(kReorder) || op.is(kBucket);
    box.name = node.results.empty() ? std::string(op.op_name())
                                    : Name(node.results[0]);
    box.op = OpTitle(op);
    box.scope = node.scope;
    box.location = node.location;
    box.devices = Devices(node.placement);
    if (node.kernel.has_value()) {
      box.kernel = node.kernel->kernel.ToString();
      box.arithmetic = ArithmeticsText(node.kernel->arithmetics);
      box.workspace = node.kernel->workspace;
    }
    for (const auto& [name, value] : node.attributes.entries()) {
      box.attributes.emplace_back(name, AttributeText(graph_, value));
    }
    for (ValueId id : node.results) {
      box.results.push_back({Name(id), graph_.type(id).ToString(), -1});
    }
    for (const auto& region : node.regions) {
      absl::StrAppend(&box.text, PrintGraph(*region));
    }
    const int index = Add(std::move(box));
    for (ValueId id : node.operands) AddOperand(index, id);
    for (ValueId id : node.results) maker_[id.index] = index;
    index_.by_node[op.id().index] = index;
  }

  void AddOutput(size_t i) {
    const ValueId value = graph_.outputs()[i];
    BoxView box;
    box.kind = BoxView::Kind::kOutput;
    box.name = i < entry_.outputs.size() ? entry_.outputs[i].name : "output";
    box.op = "output";
    const int maker = maker_[value.index];
    if (maker >= 0) box.devices = view_.boxes[maker].devices;
    const int index = Add(std::move(box));
    AddOperand(index, value);
    index_.by_output.push_back(index);
  }

  void AddOperand(int box, ValueId id) {
    const int maker = maker_[id.index];
    const TensorType& type = graph_.type(id);
    view_.boxes[box].operands.push_back({Name(id), type.ToString(), maker});
    if (maker < 0) return;
    const std::vector<int>& here = view_.boxes[box].devices;
    const std::vector<int>& there = view_.boxes[maker].devices;
    const bool shared = std::any_of(here.begin(), here.end(), [&](int d) {
      return std::find(there.begin(), there.end(), d) != there.end();
    });
    view_.edges.push_back({maker, box, Name(id), type.num_bytes(), !shared});
  }

  const Entry& entry_;
  const Graph& graph_;
  ViewedEntry& view_;
  const std::vector<std::string> names_;
  std::vector<int> maker_;  // by value: its box
  absl::flat_hash_map<std::string, int> devices_;
  BoxIndex index_;
};

}  // namespace

BoxIndex ReadBoxes(const Plan& plan, const Entry& entry, ViewedEntry& view) {
  return BoxReader(plan, entry, view).Read();
}

}  // namespace partita
