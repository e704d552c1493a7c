// Blocking flows in level graphs, without recursion because paths are long.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/flow_network.h"

#include <algorithm>

namespace partita {

int FlowNetwork::AddNode() {
  first_.push_back(-1);
  return static_cast<int>(first_.size()) - 1;
}

int FlowNetwork::AddEdge(int from, int to, int64_t capacity) {
  Add(from, to, capacity);
  Add(to, from, 0);
  return static_cast<int>(edges_.size()) / 2 - 1;
}

void FlowNetwork::Add(int from, int to, int64_t room) {
  edges_.push_back({to, first_[from], room});
  first_[from] = static_cast<int>(edges_.size()) - 1;
}

void FlowNetwork::Push(int edge, int64_t amount) { PushHalf(2 * edge, amount); }

void FlowNetwork::PushHalf(int half, int64_t amount) {
  edges_[half].room -= amount;
  // The reverse half-edge is stored next to its edge. Its room is the flow that
  // can be taken back.
  edges_[half ^ 1].room += amount;
}

int64_t FlowNetwork::Augment(int source, int sink) {
  int64_t total = 0;
  while (FindLevels(source, sink)) total += Round(source, sink);
  return total;
}

// Levels by breadth-first search; 0 at the source. False if the sink is
// unreachable.
bool FlowNetwork::FindLevels(int source, int sink) {
  level_.assign(first_.size(), -1);
  level_[source] = 0;
  std::vector<int> reached = {source};
  for (size_t i = 0; i < reached.size(); ++i) {
    const int node = reached[i];
    for (int e = first_[node]; e >= 0; e = edges_[e].next) {
      if (edges_[e].room == 0 || level_[edges_[e].to] >= 0) continue;
      level_[edges_[e].to] = level_[node] + 1;
      reached.push_back(edges_[e].to);
    }
  }
  return level_[sink] >= 0;
}

// Blocking flow: pushes along paths that rise one level per edge until none is
// left.
int64_t FlowNetwork::Round(int source, int sink) {
  // Each node goes through its half-edges once a round: one that was saturated
  // or leads nowhere stays so until the levels change.
  std::vector<int> current = first_;
  std::vector<int> path;
  int64_t total = 0;
  while (true) {
    const int node = path.empty() ? source : edges_[path.back()].to;
    if (node == sink) {
      total += PushAlong(path);
      continue;
    }
    int& e = current[node];
    while (e >= 0 &&
           (edges_[e].room == 0 || level_[edges_[e].to] != level_[node] + 1)) {
      e = edges_[e].next;
    }
    if (e >= 0) {
      path.push_back(e);
    } else if (path.empty()) {
      return total;
    } else {
      // A dead end: no later path of this round may enter it.
      level_[node] = -1;
      path.pop_back();
    }
  }
}

// Pushes what the path can carry, and truncates it before its first saturated
// edge.
int64_t FlowNetwork::PushAlong(std::vector<int>& path) {
  int64_t amount = kUnlimited;
  for (int e : path) amount = std::min(amount, edges_[e].room);
  size_t keep = path.size();
  // The part of the path before the saturated edge still has room, so the next
  // search goes on from there.
  for (size_t i = path.size(); i-- > 0;) {
    PushHalf(path[i], amount);
    if (edges_[path[i]].room == 0) keep = i;
  }
  path.resize(keep);
  return amount;
}

}  // namespace partita
