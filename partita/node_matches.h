// Pairs the nodes of two graphs of one model.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_NODE_MATCHES_H_
#define PARTITA_PARTITA_NODE_MATCHES_H_

#include <vector>

#include "graph/graph.h"
#include "graph/ids.h"
#include "graph/op_view.h"

namespace partita {

struct NodePair {
  NodeId a;
  NodeId b;
};

// Every model node of either graph is in one list, in the order of its graph.
struct NodeMatches {
  std::vector<NodePair> pairs;  // in the order of a
  std::vector<NodeId> only_a;
  std::vector<NodeId> only_b;
};

// True for nodes of the model. False for copies, reorders and buckets, which
// placement inserts, and for constants, which are stored where they are read
// and may be packed.
bool IsModelNode(const OpView& node);

// Graphs of one module at any stage: optimised, placed or with kernels.
//   1. Nodes whose first results have the same name and the same type are a
//      pair, if no other node of either graph has that name.
//   2. The others are pairs if they compute the same from the same: op,
//      attributes, body, types, and the makers of their operands, which are
//      pairs of step 1, inputs of the same number, variables of the same name,
//      constants of the same type, or equal by this step. Copies, reorders and
//      buckets do not count. Equal nodes are paired in order.
// Takes time in proportion to the sizes of both graphs.
NodeMatches MatchNodes(const Graph& a, const Graph& b);

}  // namespace partita

#endif  // PARTITA_PARTITA_NODE_MATCHES_H_
