// The graphs that a program built, as its calls said.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_GRAPH_ACCOUNT_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_GRAPH_ACCOUNT_H_

#include <cuda.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/plan/plan.h"
#include "tests/gpu/sown_faults/issued_work.h"

namespace partita {

// Not thread safe.
class GraphAccount {
 public:
  // A node that was added behind those of `after`.
  struct Added {
    CUgraphNode node = nullptr;
    absl::Span<const CUgraphNode> after;
    std::optional<IssuedWork::Issued> issued;  // none: it does nothing
  };
  void Add(CUgraph graph, const Added& added);
  void Destroy(CUgraph graph);
  void Instantiate(CUgraphExec exec, CUgraph graph);

  // The node whose work `node` does, if it is another's. Of the same graph.
  void DoesWorkOf(CUgraphNode node, CUgraphNode other);
  // The command that a node was added for.
  void SetCommand(CUgraphNode node, CommandId command);

  // Removes `after[edge]`, or puts in its place the node that was added to the
  // graph before it. False if there is none, or `after` has it already.
  bool ChangeEdge(CUgraph graph, size_t edge, bool takes_neighbours,
                  std::vector<CUgraphNode>& after) const;
  // The last one of the graph that does this work; null: none.
  CUgraphNode Last(CUgraph graph, const std::string& what) const;

  // What a launch does.
  std::vector<IssuedWork::GraphNode> NodesOf(CUgraphExec exec) const;

 private:
  CUgraphNode Before(CUgraph graph, CUgraphNode node) const;

  struct Node {
    CUgraphNode node = nullptr;
    CUgraphNode work_of = nullptr;  // a command's, of this node or another
    IssuedWork::GraphNode work;     // without its command
  };
  using Nodes = std::vector<Node>;  // in the order of adding

  std::map<CUgraph, Nodes> graphs_;
  std::map<CUgraphExec, Nodes> execs_;  // as they were when instantiated
  std::map<CUgraphNode, CommandId> commands_;
};

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_GRAPH_ACCOUNT_H_
