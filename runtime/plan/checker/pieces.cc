// What one member of a device set holds of a value.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/pieces.h"

#include <algorithm>

namespace partita {

int NumMembers(const Placement& placement) {
  return std::max<int>(1, static_cast<int>(placement.devices.size()));
}

Sharding OperandSharding(const Node& node, int operand) {
  const std::vector<Sharding>& all = node.placement.operands;
  return NumMembers(node.placement) == 1 || all.empty() ? Sharding{}
                                                        : all[operand];
}

Sharding ResultSharding(const Node& node, int result) {
  const std::vector<Sharding>& all = node.placement.results;
  return NumMembers(node.placement) == 1 || all.empty() ? Sharding{}
                                                        : all[result];
}

Sharding ProducedSharding(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  if (v.defining_node.valid()) {
    return ResultSharding(graph.node(v.defining_node), v.index);
  }
  const Placement& placement = graph.input_placement(v.index);
  return NumMembers(placement) == 1 || placement.results.empty()
             ? Sharding{}
             : placement.results[0];
}

const Placement& ProducedPlacement(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  if (!v.defining_node.valid()) return graph.input_placement(v.index);
  return graph.node(v.defining_node).placement;
}

// The checker's own reading of placement.h. n < 2^46 and members < 2^16, so the
// products do not overflow.
PieceExtent ExtentOfPiece(const TensorType& type, const Sharding& split,
                          int member, int members) {
  const int64_t units = type.dims[split.dim] / split.unit;
  return {split.unit * (units * member / members),
          split.unit * (units * (member + 1) / members)};
}

TensorType PieceType(const TensorType& type, const Sharding& sharding,
                     int member, int members) {
  TensorType piece = type;
  if (sharding.kind != Sharding::Kind::kSplit) return piece;
  const PieceExtent extent = ExtentOfPiece(type, sharding, member, members);
  piece.dims[sharding.dim] = extent.end - extent.begin;
  return piece;
}

Range PieceOfWhole(const TensorType& type, const Sharding& sharding, int member,
                   int members) {
  const int64_t bytes = type.num_bytes();
  if (sharding.kind != Sharding::Kind::kSplit || bytes == 0) {
    return {.offset = 0, .block = bytes};
  }
  const int64_t n = type.dims[sharding.dim];
  int64_t outer = 1;
  for (int d = 0; d < sharding.dim; ++d) outer *= type.dims[d];
  const int64_t row = bytes / outer / n;  // bytes of one index of the dimension
  const PieceExtent extent = ExtentOfPiece(type, sharding, member, members);
  return {.offset = extent.begin * row,
          .block = (extent.end - extent.begin) * row,
          .count = outer,
          .stride = n * row};
}

}  // namespace partita
