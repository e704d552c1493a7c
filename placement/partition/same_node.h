// Compares nodes of two graphs, for proofs that the graphs are equal.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_SAME_NODE_H_
#define PARTITA_PLACEMENT_PARTITION_SAME_NODE_H_

#include <vector>

#include "graph/graph.h"
#include "graph/op_view.h"

namespace partita {

// Numbers the values of a graph. Equal numbers in two graphs mean equal values.
class Numbering {
 public:
  explicit Numbering(const Graph& graph)
      : numbers_(graph.value_id_bound(), -1) {}
  int Of(ValueId value) const { return numbers_[value.index]; }
  void Set(ValueId value, int number) { numbers_[value.index] = number; }

 private:
  std::vector<int> numbers_;
};

// Equal dtype and dimensions; layouts may differ.
bool SameExtents(const TensorType& a, const TensorType& b);

// Equal op, attributes, bodies and types. The caller compares the operands.
bool SameNode(const OpView& a, const OpView& b);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_SAME_NODE_H_
