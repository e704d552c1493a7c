// Blocking flows in level graphs, without recursion because paths are long.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/flow_network.h"

#include <algorithm>

namespace partita {

NetworkNodeId FlowNetwork::AddNode() { return first_.Add(HalfEdgeId()); }

NetworkEdgeId FlowNetwork::AddEdge(NetworkNodeId from, NetworkNodeId to,
                                   int64_t capacity) {
  const HalfEdgeId half = Add(from, to, capacity);
  Add(to, from, 0);
  return NetworkEdgeId(half.index / 2);
}

FlowNetwork::HalfEdgeId FlowNetwork::Add(NetworkNodeId from, NetworkNodeId to,
                                         int64_t room) {
  first_[from] = edges_.Add({to, first_[from], room});
  return first_[from];
}

void FlowNetwork::Push(NetworkEdgeId edge, int64_t amount) {
  PushHalf(HalfOf(edge), amount);
}

void FlowNetwork::PushHalf(HalfEdgeId half, int64_t amount) {
  edges_[half].room -= amount;
  // The reverse half-edge is stored next to its edge. Its room is the flow that
  // can be taken back.
  edges_[Reverse(half)].room += amount;
}

int64_t FlowNetwork::Augment(NetworkNodeId source, NetworkNodeId sink) {
  int64_t total = 0;
  while (FindLevels(source, sink)) total += Round(source, sink);
  return total;
}

// Levels by breadth-first search; 0 at the source. False if the sink is
// unreachable.
bool FlowNetwork::FindLevels(NetworkNodeId source, NetworkNodeId sink) {
  level_.assign(first_.size(), -1);
  level_[source] = 0;
  std::vector<NetworkNodeId> reached = {source};
  for (size_t i = 0; i < reached.size(); ++i) {
    const NetworkNodeId node = reached[i];
    for (HalfEdgeId e = first_[node]; e.valid(); e = edges_[e].next) {
      if (edges_[e].room == 0 || level_[edges_[e].to] >= 0) continue;
      level_[edges_[e].to] = level_[node] + 1;
      reached.push_back(edges_[e].to);
    }
  }
  return level_[sink] >= 0;
}

// Blocking flow: pushes along paths that rise one level per edge until none is
// left.
int64_t FlowNetwork::Round(NetworkNodeId source, NetworkNodeId sink) {
  // Each node goes through its half-edges once a round: one that was saturated
  // or leads nowhere stays so until the levels change.
  IdVector<NetworkNodeId, HalfEdgeId> current = first_;
  std::vector<HalfEdgeId> path;
  int64_t total = 0;
  while (true) {
    const NetworkNodeId node = path.empty() ? source : edges_[path.back()].to;
    if (node == sink) {
      total += PushAlong(path);
      continue;
    }
    HalfEdgeId& e = current[node];
    while (e.valid() &&
           (edges_[e].room == 0 || level_[edges_[e].to] != level_[node] + 1)) {
      e = edges_[e].next;
    }
    if (e.valid()) {
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
int64_t FlowNetwork::PushAlong(std::vector<HalfEdgeId>& path) {
  int64_t amount = kUnlimited;
  for (HalfEdgeId e : path) amount = std::min(amount, edges_[e].room);
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
