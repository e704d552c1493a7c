// What a collective does, read from its node in the placed graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_COLLECTIVE_H_
#define PARTITA_RUNTIME_PLAN_COLLECTIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/op_def.h"

namespace partita {

// A collective node has one operand and one result, or is a `bucket` of several
// for an all_reduce of each, or an all_gather of each; on which devices they
// lie and how they are divided among them says what the members exchange:
//
//   operand               result            kind
//   partial               replicated        all_reduce
//   partial               split             reduce_scatter
//   split                 replicated        all_gather
//   split                 split             all_to_all (another dimension)
//   whole on one device   replicated        broadcast
//   split, elsewhere      split alike       permute
//
// The first two make new values; the others move bytes, so names pass on.
enum class CollectiveKind : uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kBroadcast,
  kPermute,
};

absl::string_view CollectiveName(CollectiveKind kind);  // "all_reduce"

// Nothing if the node is no collective.
std::optional<CollectiveKind> CollectiveOf(const OpView& node);

inline bool Reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce ||
         kind == CollectiveKind::kReduceScatter;
}

// One device's part of a collective: which piece of the operand it supplies and
// which of the result it takes, by the members that hold them; -1: none.
struct CollectiveMember {
  std::string device;
  int gives = -1;
  int takes = -1;
};

// The members of a collective node, by their number in its groups: the devices
// of the node, in their order, each of which gives and takes. Of a broadcast
// and a permute only those give that hold the operand: where the node is not
// placed, they follow behind. What a broadcast's root holds it need not take.
// Who gives reaches whoever takes; in a permute, whoever takes that piece.
//
//   %h on gpu:0,           copied to {gpu:0, gpu:1, gpu:2}: gpu:0 gives,
//                          gpu:1 and gpu:2 take
//   %h on {gpu:0, gpu:1},  copied to {gpu:1, gpu:2} (split 0) -> (split 0):
//                          gpu:1 takes 0 and gives 1, gpu:2 takes 1, gpu:0
//                          gives 0
std::vector<CollectiveMember> MembersOf(const OpView& node);

// True for nodes that a `copy` command, or a send and receive, may carry out.
bool IsCopy(const OpView& node);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_COLLECTIVE_H_
