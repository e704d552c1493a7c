// Derives collectives from nodes of the bound graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_COLLECTIVE_H_
#define PARTITA_RUNTIME_PLAN_COLLECTIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/op_def.h"
#include "graph/placement.h"

namespace partita {

// A collective node has one operand and one result, or is a `bucket` of
// several: an all_reduce of each, or an all_gather of each. The devices and
// shardings of operand and result determine the kind:
//
//   operand               result            kind
//   partial               replicated        all_reduce
//   partial               split             reduce_scatter
//   split                 replicated        all_gather
//   split                 split             all_to_all (another dimension, or
//                                           other units)
//   whole on one device   replicated        broadcast
//   split, elsewhere      split alike       permute
enum class CollectiveKind : uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kBroadcast,
  kPermute,
};

// Whose bytes reach whom.
enum class CollectiveRoutes : uint8_t {
  kAll,        // those of every rank reach every rank
  kFromRoot,   // those of one rank reach all others
  kShardwise,  // those of each rank reach the rank that takes its shard
};

// All that a kind is to lowering, execution and cost. The checker too takes the
// kind and the participants of a node from it; what the kind does with their
// bytes is a rule of its own (checker/collective_rule.h).
struct CollectiveDef {
  CollectiveKind kind;
  const char* name;  // "all_reduce"
  CollectiveRoutes routes = CollectiveRoutes::kAll;
  // Of operand and result. Only if `routes` is kAll: other kinds change the
  // devices of a value, not its sharding.
  Sharding::Kind from = Sharding::Kind::kReplicated;
  Sharding::Kind to = Sharding::Kind::kReplicated;
  bool reduces = false;      // makes new values; other kinds only move bytes
  bool is_bucketed = false;  // may be of several values
  // The cost over d ranks that each supply some bytes, if `routes` is
  // kAll (placement/cost/collective_cost.h): rounds in a ring, of d - 1 steps;
  // the bytes of a step are all of a rank's, or 1 / d of them. Instead of the
  // ring, `has_tree` kinds may go up and down a tree.
  int ring_rounds = 1;
  bool has_whole_steps = false;
  bool has_tree = false;
};

// The row of the kind, a valid one.
const CollectiveDef& DefOf(CollectiveKind kind);

absl::string_view CollectiveName(CollectiveKind kind);

// Empty if the node is not a collective.
std::optional<CollectiveKind> CollectiveOf(const OpView& node);

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

// True if every shard leaves its device, and each new device takes one: a
// permute of shards from the devices `from` to the devices `to`, by rank.
bool EachMoves(absl::Span<const std::string> from,
               absl::Span<const std::string> to);

// True for nodes that a `copy` command, or a send and receive, may perform.
bool IsCopy(const OpView& node);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_COLLECTIVE_H_
