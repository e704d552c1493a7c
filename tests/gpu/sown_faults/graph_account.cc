// Nodes and the order between them.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/graph_account.h"

#include <algorithm>

namespace partita {

void GraphAccount::Add(CUgraph graph, const Added& added) {
  Nodes& nodes = graphs_[graph];
  Node node = {.node = added.node, .work_of = added.node};
  node.work.issued = added.issued;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (std::count(added.after.begin(), added.after.end(), nodes[i].node) > 0) {
      node.work.after.push_back(i);
    }
  }
  nodes.push_back(std::move(node));
}

void GraphAccount::Destroy(CUgraph graph) { graphs_.erase(graph); }

void GraphAccount::Instantiate(CUgraphExec exec, CUgraph graph) {
  execs_[exec] = graphs_[graph];
}

void GraphAccount::DoesWorkOf(CUgraphNode node, CUgraphNode other) {
  for (auto& [graph, nodes] : graphs_) {
    for (Node& mine : nodes) {
      if (mine.node == node) mine.work_of = other;
    }
  }
}

void GraphAccount::SetCommand(CUgraphNode node, CommandId command) {
  commands_[node] = command;
}

bool GraphAccount::ChangeEdge(CUgraph graph, size_t edge, bool takes_neighbours,
                              std::vector<CUgraphNode>& after) const {
  if (!takes_neighbours) {
    after.erase(after.begin() + static_cast<std::ptrdiff_t>(edge));
    return true;
  }
  const CUgraphNode other = Before(graph, after[edge]);
  if (other == nullptr || std::count(after.begin(), after.end(), other) > 0) {
    return false;
  }
  after[edge] = other;
  return true;
}

CUgraphNode GraphAccount::Before(CUgraph graph, CUgraphNode node) const {
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return nullptr;
  CUgraphNode before = nullptr;
  for (const Node& candidate : found->second) {
    if (candidate.node == node) return before;
    before = candidate.node;
  }
  return nullptr;
}

CUgraphNode GraphAccount::Last(CUgraph graph, const std::string& what) const {
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return nullptr;
  CUgraphNode last = nullptr;
  for (const Node& candidate : found->second) {
    const std::optional<IssuedWork::Issued>& issued = candidate.work.issued;
    if (issued.has_value() && issued->what == what) last = candidate.node;
  }
  return last;
}

std::vector<IssuedWork::GraphNode> GraphAccount::NodesOf(
    CUgraphExec exec) const {
  std::vector<IssuedWork::GraphNode> launched;
  const auto found = execs_.find(exec);
  if (found == execs_.end()) return launched;
  for (const Node& node : found->second) {
    launched.push_back(node.work);
    const auto command = commands_.find(node.work_of);
    if (command != commands_.end()) launched.back().command = command->second;
  }
  return launched;
}

}  // namespace partita
