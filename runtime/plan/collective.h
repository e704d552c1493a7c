// Derives collectives from nodes of the placed graph.
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

// A collective node has one operand and one result, or is a `bucket` of
// several: an all_reduce of each, or an all_gather of each. The devices and
// shardings of operand and result determine the kind:
//
//   operand               result            kind
//   partial               replicated        all_reduce
//   partial               split             reduce_scatter
//   split                 replicated        all_gather
//   split                 split             all_to_all (another dimension)
//   whole on one device   replicated        broadcast
//   split, elsewhere      split alike       permute
//
// The first two compute new values. The others only move bytes, so the
// checker's names pass through them.
enum class CollectiveKind : uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kBroadcast,
  kPermute,
};

absl::string_view CollectiveName(CollectiveKind kind);  // "all_reduce"

// Empty if the node is not a collective.
std::optional<CollectiveKind> CollectiveOf(const OpView& node);

inline bool Reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce ||
         kind == CollectiveKind::kReduceScatter;
}

// What one device does in a collective: the shard of the operand that it
// gives and the shard of the result that it takes, as ranks; -1: none.
struct Participant {
  std::string device;
  int gives = -1;
  int takes = -1;
};

// The participants of a collective node, in the order of ranks in its group.
// These are the devices of the node, in their order; in most collectives each
// gives and takes. In a broadcast or permute only devices that hold the operand
// give; those on which the node is not placed come last. The root of a
// broadcast takes nothing, because it already has the value. Every giver
// reaches every taker, except in a permute, where it reaches the taker of its
// shard.
//
//   %h on gpu:0,           copied to {gpu:0, gpu:1, gpu:2}: gpu:0 gives,
//                          gpu:1 and gpu:2 take
//   %h on {gpu:0, gpu:1},  copied to {gpu:1, gpu:2} (split 0) -> (split 0):
//                          gpu:1 takes 0 and gives 1, gpu:2 takes 1, gpu:0
//                          gives 0
std::vector<Participant> ParticipantsOf(const OpView& node);

// True for nodes that a `copy` command, or a send and receive, may perform.
bool IsCopy(const OpView& node);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_COLLECTIVE_H_
