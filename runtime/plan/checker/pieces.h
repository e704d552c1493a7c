// What one member of a device set holds of a value.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_PIECES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_PIECES_H_

#include <cstdint>

#include "graph/graph.h"
#include "graph/placement.h"
#include "graph/tensor_type.h"
#include "runtime/plan/plan.h"

namespace partita {

int NumMembers(const Placement& placement);
Sharding OperandSharding(const Node& node, int operand);
Sharding ResultSharding(const Node& node, int result);

// How a value is laid out over its members where it is made: by its node, or as
// a graph input arrives.
Sharding ProducedSharding(const Graph& graph, ValueId value);
const Placement& ProducedPlacement(const Graph& graph, ValueId value);

// The type of what member `member` of `members` holds. The sharding's dimension
// must exist.
TensorType PieceType(const TensorType& type, const Sharding& sharding,
                     int member, int members);

// The indices [begin, end) along a split's dimension that a member holds.
struct PieceExtent {
  int64_t begin = 0;
  int64_t end = 0;
};
PieceExtent ExtentOfPiece(const TensorType& type, const Sharding& split,
                          int member, int members);

// The bytes of the whole row-major value that a member holds, in the order in
// which they lie in its piece.
Range PieceOfWhole(const TensorType& type, const Sharding& sharding, int member,
                   int members);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_PIECES_H_
