// Finds the boxes of the nodes that are pairs.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/diff_view.h"

#include <cstddef>
#include <string>

#include "partita/node_matches.h"

namespace partita {
namespace {

// Boxes by what they stand for.
class BoxFinder {
 public:
  BoxFinder(const Graph& graph, const ViewedEntry& entry)
      : by_node_(graph.node_id_bound(), -1) {
    for (size_t b = 0; b < entry.boxes.size(); ++b) {
      const BoxView& box = entry.boxes[b];
      const int index = static_cast<int>(b);
      if (box.kind == BoxView::Kind::kInput) inputs_.push_back(index);
      if (box.kind == BoxView::Kind::kOutput) outputs_.push_back(index);
      if (box.node.valid()) by_node_[box.node.index] = index;
    }
  }

  // -1: it has none.
  int OfNode(NodeId node) const { return by_node_[node.index]; }
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }

 private:
  std::vector<int> by_node_;
  std::vector<int> inputs_;
  std::vector<int> outputs_;
};

std::vector<ChangeView> ReadChanges(const std::vector<NodeChange>& changes,
                                    const BoxFinder& a, const BoxFinder& b) {
  std::vector<ChangeView> views;
  for (const NodeChange& change : changes) {
    views.push_back({change, a.OfNode(change.a.node), b.OfNode(change.b.node)});
  }
  return views;
}

int EntryNamed(const PlanView& view, const std::string& name) {
  int e = 0;
  while (view.entries[e].name != name) ++e;
  return e;
}

void AddPairs(const Graph& graph_a, const ViewedEntry& view_a,
              const BoxFinder& a, const Graph& graph_b,
              const ViewedEntry& view_b, const BoxFinder& b,
              std::vector<std::pair<int, int>>& boxes) {
  for (size_t i = 0; i < a.inputs().size() && i < b.inputs().size(); ++i) {
    boxes.emplace_back(a.inputs()[i], b.inputs()[i]);
  }
  for (const NodePair& pair : MatchNodes(graph_a, graph_b).pairs) {
    const int box_a = a.OfNode(pair.a), box_b = b.OfNode(pair.b);
    if (box_a >= 0 && box_b >= 0) boxes.emplace_back(box_a, box_b);
  }
  for (int box_a : a.outputs()) {
    for (int box_b : b.outputs()) {
      if (view_a.boxes[box_a].name != view_b.boxes[box_b].name) continue;
      boxes.emplace_back(box_a, box_b);
    }
  }
}

}  // namespace

DiffView ReadDiffView(const Plan& a, const PlanView& view_a, const Plan& b,
                      const PlanView& view_b, PlanDiff diff) {
  DiffView view{std::move(diff), {}};
  for (const EntryDiff& entry : view.diff.entries) {
    EntryPairView pair;
    pair.entry_a = EntryNamed(view_a, entry.a.name);
    pair.entry_b = EntryNamed(view_b, entry.b.name);
    pair.diff = entry;
    const ViewedEntry& entry_a = view_a.entries[pair.entry_a];
    const ViewedEntry& entry_b = view_b.entries[pair.entry_b];
    const Graph& graph_a = *a.entries[pair.entry_a].graph;
    const Graph& graph_b = *b.entries[pair.entry_b].graph;
    const BoxFinder boxes_a(graph_a, entry_a), boxes_b(graph_b, entry_b);
    pair.moved = ReadChanges(entry.moved, boxes_a, boxes_b);
    pair.computed = ReadChanges(entry.computed, boxes_a, boxes_b);
    AddPairs(graph_a, entry_a, boxes_a, graph_b, entry_b, boxes_b, pair.boxes);
    view.entries.push_back(std::move(pair));
  }
  return view;
}

}  // namespace partita
