// Makes the body of a fused node from nodes of a graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_FUSED_BODY_H_
#define PARTITA_GRAPH_FUSED_BODY_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace partita {

// The nodes of the body are copies; the originals stay in their graph.
class FusedBody {
 public:
  // The body's nodes in graph order.
  static absl::StatusOr<FusedBody> Of(const Graph& graph,
                                      absl::Span<const NodeId> nodes);

  // The nodes' results that the body returns: values of the graph.
  void SetResults(const ValueIds& results);
  // The values of the graph that the nodes read, by input of the body: one
  // input for each way in which nodes read a value, as %x twice for a sum of
  // %x and a product that reads it.
  const ValueIds& operands() const { return operands_; }
  std::unique_ptr<Graph> Take() { return std::move(body_); }

 private:
  // How nodes of the body read an outer value. Elementwise nodes read it alike,
  // as they have the same extents. Each operand of another node is separate: a
  // product may need all columns of a value while the sum after it, split by
  // columns, needs some.
  struct Reading {
    ValueId value;
    NodeId reader;  // invalid: any elementwise node
    int operand = -1;

    friend bool operator==(const Reading&, const Reading&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Reading& reading) {
      return H::combine(std::move(h), reading.value, reading.reader,
                        reading.operand);
    }
  };

  explicit FusedBody(const Graph& graph);
  absl::Status Add(NodeId id);
  ValueId Inner(const Reading& reading);
  std::string InputName(ValueId outer) const;

  const Graph* graph_;
  std::unique_ptr<Graph> body_;
  absl::flat_hash_map<ValueId, ValueId> inner_;  // nodes' results: the body's
  absl::flat_hash_map<Reading, ValueId> inputs_;
  ValueIds operands_;
};

// A graph of one node: the fused node of `nodes` with these results and pins,
// as catalogs and dimension rules are asked for one that does not exist yet.
// Its operands are inputs, or the same constants as in `graph`.
absl::StatusOr<std::unique_ptr<Graph>> FusedAlone(
    const Graph& graph, absl::Span<const NodeId> nodes, const ValueIds& results,
    Placement placement = {});

}  // namespace partita

#endif  // PARTITA_GRAPH_FUSED_BODY_H_
