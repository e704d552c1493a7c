// The largest flow through a network.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_FLOW_NETWORK_H_
#define PARTITA_PLACEMENT_LOWER_FLOW_NETWORK_H_

#include <cstdint>
#include <limits>
#include <vector>

namespace partita {

// Nodes and edges are numbered as they are added.
class FlowNetwork {
 public:
  // More than any sum of weights that is a flow.
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

  int AddNode();
  int AddEdge(int from, int to, int64_t capacity);

  // What the edge can still carry.
  int64_t room(int edge) const { return edges_[2 * edge].room; }
  // Lets the edge carry more. Where all such flow goes on from node to node,
  // Augment begins with it.
  void Push(int edge, int64_t amount);

  // Adds what is missing to the largest flow from source to sink, and returns
  // how much that is (Dinic 1970): in as many rounds as there are lengths of
  // ways along which something is missing.
  int64_t Augment(int source, int sink);

 private:
  // The edge e is 2 e, and 2 e + 1 is its reverse.
  struct HalfEdge {
    int to;
    int next;  // of the same node; -1: none
    int64_t room;
  };
  void Add(int from, int to, int64_t room);
  void PushHalf(int half, int64_t amount);
  bool FindLevels(int source, int sink);
  int64_t Round(int source, int sink);
  int64_t PushAlong(std::vector<int>& path);

  std::vector<HalfEdge> edges_;
  std::vector<int> first_;  // by node
  std::vector<int> level_;  // by node
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_FLOW_NETWORK_H_
