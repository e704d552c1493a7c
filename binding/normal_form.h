// A graph without fused nodes and reorders, for proofs that graphs are equal.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_BINDING_NORMAL_FORM_H_
#define PARTITA_BINDING_NORMAL_FORM_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/ids.h"
#include "graph/op_view.h"

namespace partita {

using NormalValueId = Id<struct NormalValueTag>;  // a value of one NormalForm

// A node that is neither a reorder nor fused.
struct NormalNode {
  OpView op;            // of the graph, or of the body of a fused node
  std::string inside;   // "fused %y", if of its body
  Placement placement;  // of a body's node: what the fused node's gives it
  std::vector<NormalValueId> operands;
  std::vector<NormalValueId> results;
  bool is_live = false;  // an output or an update depends on it
};

// The nodes of a graph and of the bodies of its fused nodes, in an order in
// which definitions precede uses. A result of a fused node is the value that
// its body returns, and the result of a reorder is its operand, as it differs
// in layout only. `faults` lists reorders that change more than the layout, and
// fused nodes whose results are sharded otherwise than their bodies say.
// The graph must have passed Verify and must outlive it.
struct NormalForm {
  explicit NormalForm(const Graph& graph);

  std::vector<NormalNode> nodes;
  std::vector<NormalValueId> inputs;
  std::vector<NormalValueId> outputs;
  std::vector<NormalValueId> updates;
  int num_values = 0;  // their ids are 0 .. num_values - 1
  std::vector<std::string> faults;
};

// "relu %h", or "relu %h in fused %y".
std::string NodeText(const NormalNode& node);

}  // namespace partita

#endif  // PARTITA_BINDING_NORMAL_FORM_H_
