// Maximum flow through a network.
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
  // More than any flow that occurs.
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

  int AddNode();
  int AddEdge(int from, int to, int64_t capacity);

  // The residual capacity of the edge.
  int64_t room(int edge) const { return edges_[2 * edge].room; }
  // Adds flow along one edge. The caller must conserve flow at every node;
  // Augment then starts from that flow.
  void Push(int edge, int64_t amount);

  // Extends the flow to a maximum flow from source to sink. Returns the amount
  // added. Dinic (1970): one round per distinct length of augmenting paths.
  int64_t Augment(int source, int sink);

 private:
  // Edge e is half-edge 2e; its reverse is 2e + 1.
  struct HalfEdge {
    int to;
    int next;  // next half-edge of the same node; -1: none
    int64_t room;
  };
  void Add(int from, int to, int64_t room);
  void PushHalf(int half, int64_t amount);
  bool FindLevels(int source, int sink);
  int64_t Round(int source, int sink);
  int64_t PushAlong(std::vector<int>& path);

  std::vector<HalfEdge> edges_;
  std::vector<int> first_;  // by node: its first half-edge
  std::vector<int> level_;  // by node: distance from the source
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_FLOW_NETWORK_H_
