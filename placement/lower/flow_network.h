// Maximum flow through a network.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_FLOW_NETWORK_H_
#define PARTITA_PLACEMENT_LOWER_FLOW_NETWORK_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "graph/id_vector.h"
#include "graph/ids.h"

namespace partita {

// Of one FlowNetwork, in the order in which they were added.
using NetworkNodeId = Id<struct NetworkNodeTag>;
using NetworkEdgeId = Id<struct NetworkEdgeTag>;

class FlowNetwork {
 public:
  // More than any flow that occurs.
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

  NetworkNodeId AddNode();
  NetworkEdgeId AddEdge(NetworkNodeId from, NetworkNodeId to, int64_t capacity);

  // The residual capacity of the edge.
  int64_t room(NetworkEdgeId edge) const { return edges_[HalfOf(edge)].room; }
  // Adds flow along one edge. The caller must conserve flow at every node;
  // Augment then starts from that flow.
  void Push(NetworkEdgeId edge, int64_t amount);

  // Extends the flow to a maximum flow from source to sink. Returns the amount
  // added. Dinic (1970): one round per distinct length of augmenting paths.
  int64_t Augment(NetworkNodeId source, NetworkNodeId sink);

 private:
  // Edge e is half-edge 2e; its reverse is 2e + 1.
  using HalfEdgeId = Id<struct HalfEdgeTag>;
  struct HalfEdge {
    NetworkNodeId to;
    HalfEdgeId next;  // of the same node; invalid: none
    int64_t room;
  };
  static HalfEdgeId HalfOf(NetworkEdgeId edge) {
    return HalfEdgeId(2 * edge.index);
  }
  static HalfEdgeId Reverse(HalfEdgeId half) {
    return HalfEdgeId(half.index ^ 1);
  }

  HalfEdgeId Add(NetworkNodeId from, NetworkNodeId to, int64_t room);
  void PushHalf(HalfEdgeId half, int64_t amount);
  bool FindLevels(NetworkNodeId source, NetworkNodeId sink);
  int64_t Round(NetworkNodeId source, NetworkNodeId sink);
  int64_t PushAlong(std::vector<HalfEdgeId>& path);

  IdVector<HalfEdgeId, HalfEdge> edges_;
  IdVector<NetworkNodeId, HalfEdgeId> first_;  // of the node's half-edges
  IdVector<NetworkNodeId, int> level_;         // distance from the source
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_FLOW_NETWORK_H_
