// What a collective does, read from its node in the placed graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_COLLECTIVE_H_
#define PARTITA_RUNTIME_PLAN_COLLECTIVE_H_

#include <cstdint>
#include <optional>

#include "graph/op_def.h"

namespace partita {

// A collective node has one operand and one result, or is a `bucket` of several
// for an all_reduce of each; how they are sharded over its device set says what
// the members exchange:
//
//   operand     result       kind
//   partial     replicated   all_reduce
//   partial     split        reduce_scatter
//   split       replicated   all_gather
//   split       split        all_to_all (another dimension)
//
// The first two make new values; the others move bytes, so names pass on.
enum class CollectiveKind : uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
};

// Nothing if the node is no collective.
std::optional<CollectiveKind> CollectiveOf(const OpView& node);

inline bool Reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce ||
         kind == CollectiveKind::kReduceScatter;
}

// True if at least one byte of member `from` reaches member `to`. In all four
// kinds every member reaches every other; rooted kinds will answer by root.
inline bool Reaches(CollectiveKind, int from, int to) { return from != to; }

// True for nodes that a `copy` command, or a send and receive, may carry out.
bool IsCopy(const OpView& node);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_COLLECTIVE_H_
