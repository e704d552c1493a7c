// Traces shardings through views to the values that hold the bytes.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/value_forms.h"

#include "absl/algorithm/container.h"
#include "graph/op_view.h"
#include "graph/views.h"

namespace partita {
namespace {

void AddOnce(std::vector<FormedValue>& list, FormedValue formed) {
  const bool is_known = absl::c_any_of(list, [&](const FormedValue& other) {
    return other.value == formed.value && other.form == formed.form;
  });
  if (!is_known) list.push_back(formed);
}

}  // namespace

ValueForms::ValueForms(const SearchSpace& space)
    : space_(space),
      forms_(space.request.graph().value_id_bound(), {Sharding()}),
      items_(space.flow.items.size()) {
  for (size_t i = 0; i < items_.size(); ++i) {
    const int item = static_cast<int>(i);
    items_[i].push_back(FormsOf(item, nullptr));
    for (const ItemSplit& split : space.splits.of(item)) {
      items_[i].push_back(FormsOf(item, &split));
    }
  }
}

int ValueForms::NumberOf(ValueId value, const Sharding& sharding) {
  std::vector<Sharding>& forms = forms_[value];
  const auto found = absl::c_find(forms, sharding);
  const int number = static_cast<int>(found - forms.begin());
  if (found == forms.end()) forms.push_back(sharding);
  return number;
}

FormedValue ValueForms::AtRoot(ValueId value, Sharding sharding) {
  const Graph& graph = space_.request.graph();
  const ValueId root = space_.request.costs.root(value);
  while (value != root && sharding != Sharding()) {
    const int result = graph.value(value).index;
    const OpView view = graph.view(graph.value(value).defining_node);
    const int operand = (*ViewsOf(view))[result].operand;
    const std::optional<Placement> split =
        space_.splits.SplitByResult(view, result, sharding);
    sharding = split.has_value() ? split->operands[operand] : Sharding();
    value = view.operand(operand).id();
  }
  return {root, NumberOf(root, sharding)};
}

ValueForms::ItemForms ValueForms::FormsOf(int item, const ItemSplit* split) {
  const Graph& graph = space_.request.graph();
  const CostModel& costs = space_.request.costs;
  const Node& node = graph.node(space_.flow.items[item].node);
  ItemForms forms;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const FormedValue read = AtRoot(
        node.operands[i], split == nullptr ? Sharding() : split->operands[i]);
    const NodeId maker = graph.value(read.value).defining_node;
    const bool is_stored = maker.valid() && costs.is_stored(maker);
    AddOnce(is_stored ? forms.stored : forms.sources, read);
  }
  for (size_t i = 0; i < node.results.size(); ++i) {
    const Sharding made = split == nullptr ? Sharding() : split->results[i];
    forms.results.push_back({node.results[i], NumberOf(node.results[i], made)});
  }
  return forms;
}

int ValueForms::FormLike(ValueId value, FormedValue other) const {
  const std::vector<Sharding>& forms = forms_[value];
  const auto found = absl::c_find(forms, sharding(other));
  return found == forms.end() ? kWholeForm
                              : static_cast<int>(found - forms.begin());
}

}  // namespace partita
