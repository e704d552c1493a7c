// Keeps reorders and their results consistent, and restores mutated plans.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/mutants/set_layout.h"

#include <algorithm>

#include "graph/core_ops.h"
#include "runtime/plan/checker/testing/mutants/mutate.h"

namespace partita {

Graph& EntryGraph(Plan& plan) {
  const auto& functions = plan.module.functions();
  return **std::find_if(functions.begin(), functions.end(),
                        [&](const auto& function) {
                          return function.get() == plan.entries[0].graph;
                        });
}

void SetLayout(Graph& graph, ValueId value, const Layout& layout) {
  graph.value(value).type.layout = layout;
  const NodeId maker = graph.value(value).defining_node;
  if (!maker.valid() || graph.node(maker).op != &kReorder) return;
  Attributes& attributes = graph.node(maker).attributes;
  // An attribute with its default is not stored.
  if (layout.is_row_major()) {
    attributes.Remove("layout");
  } else {
    attributes.Set("layout", layout.ToString());
  }
}

SavedParts::SavedParts(const Plan& plan)
    : entry_(plan.entries[0]), devices_(plan.devices) {
  const Graph& graph = *entry_.graph;
  for (int v = 0; v < graph.value_id_bound(); ++v) {
    layouts_.push_back(graph.type(ValueId(v)).layout);
  }
}

void SavedParts::Restore(Plan& plan) const {
  plan.entries[0] = entry_;
  plan.devices = devices_;
  Graph& graph = EntryGraph(plan);
  for (size_t v = 0; v < layouts_.size(); ++v) {
    const ValueId value(static_cast<int32_t>(v));
    if (graph.type(value).layout != layouts_[v]) {
      SetLayout(graph, value, layouts_[v]);
    }
  }
}

}  // namespace partita
