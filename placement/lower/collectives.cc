// Chooses collectives by source and target placement of a copy.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/collectives.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/algorithm/container.h"
#include "graph/shard.h"
#include "placement/cost/collective_cost.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

using Devices = absl::InlinedVector<std::string, 1>;

// The ring in order, starting at `from`: the rest of the set after `from`, then
// those before it.
std::vector<std::string> ChainFrom(const std::string& from,
                                   const Devices& devices) {
  std::vector<std::string> chain(devices.begin(), devices.end());
  const auto root = absl::c_find(chain, from);
  if (root == chain.end()) {
    chain.insert(chain.begin(), from);
  } else {
    std::rotate(chain.begin(), root, chain.end());
  }
  return chain;
}

bool BroadcastIsNoSlower(double bytes, const std::vector<std::string>& chain,
                         const LinkTable& links) {
  std::vector<Route> copies;
  for (size_t i = 1; i < chain.size(); ++i) {
    copies.push_back({chain[0], chain[i]});
  }
  const auto by_copies = TransferSeconds(bytes, copies, links);
  const auto at_once = BroadcastSeconds(bytes, chain, links);
  return copies.size() > 1 && by_copies.ok() && at_once.ok() &&
         *at_once <= *by_copies;
}

// True unless most of a rank's new shard may already be local, as a view: along
// the same dimension.
bool MovesMostBytes(const OpView& copy) {
  const Sharding from = ShardingOf(copy.node().placement.operands, 0);
  const Sharding to = ShardingOf(copy.node().placement.results, 0);
  return to.kind != Sharding::Kind::kSplit || to.dim != from.dim;
}

bool IsRowMajor(const OpView& copy) {
  return copy.operand_type(0).layout.is_row_major() &&
         copy.result_type(0).layout.is_row_major();
}

// Compares a ring with copies between all pairs of ranks. Each supplies
// `bytes`.
bool RingIsNoSlower(CollectiveKind kind, double bytes, const Devices& devices,
                    const LinkTable& links) {
  const std::vector<std::string> ranks(devices.begin(), devices.end());
  std::vector<Route> copies;
  for (const std::string& from : ranks) {
    for (const std::string& to : ranks) {
      if (from != to) copies.push_back({from, to});
    }
  }
  const double copied = DefOf(kind).has_whole_steps
                            ? bytes
                            : bytes / static_cast<double>(ranks.size());
  const auto by_copies = TransferSeconds(copied, copies, links);
  const auto by_ring = CollectiveTransferSeconds(kind, bytes, ranks, links);
  return by_copies.ok() && by_ring.ok() && *by_ring <= *by_copies;
}

// Copies also convert between layouts.
bool IsRing(CollectiveKind kind, const OpView& copy, bool is_update,
            const LinkTable& links) {
  if (!IsRowMajor(copy) || !MovesMostBytes(copy)) return false;
  if (is_update && kind == CollectiveKind::kAllGather) return true;
  const Devices& ranks = copy.node().placement.devices;
  const double bytes = static_cast<double>(copy.operand_type(0).num_bytes()) /
                       static_cast<double>(ranks.size());
  return RingIsNoSlower(kind, bytes, ranks, links);
}

bool IsCollective(const PlanDraft& draft, const OpView& copy, bool is_update,
                  const LinkTable& links) {
  const std::optional<CollectiveKind> kind = CollectiveOf(copy);
  const int64_t bytes = copy.operand_type(0).num_bytes();
  if (!kind.has_value() || bytes == 0) return false;
  const Devices& from = draft.PlacementOf(copy.operand(0).id()).devices;
  const Devices& to = copy.node().placement.devices;
  switch (DefOf(*kind).routes) {
    case CollectiveRoutes::kAll:
      return from == to && IsRing(*kind, copy, is_update, links);
    case CollectiveRoutes::kFromRoot:
      return BroadcastIsNoSlower(static_cast<double>(bytes),
                                 ChainFrom(from[0], to), links);
    case CollectiveRoutes::kShardwise:
      return true;  // over the same links as copies, all at once
  }
  return false;
}

}  // namespace

std::vector<CollectiveRank> FindCollective(const PlanDraft& draft,
                                           const OpView& copy,
                                           MicroBatchId micro_batch,
                                           bool is_update,
                                           const LinkTable& links) {
  std::vector<CollectiveRank> participants;
  if (!IsCollective(draft, copy, is_update, links)) return participants;
  const ValueId value = copy.operand(0).id();
  const ValueId result = copy.result(0).id();
  const Devices& to = copy.node().placement.devices;
  for (int i = 0; i < static_cast<int>(to.size()); ++i) {
    participants.push_back({.device = draft.devices->ids.at(to[i]),
                            .receives = draft.ShardOf(result, i, micro_batch)});
  }
  const int holders = static_cast<int>(draft.PlacementOf(value).devices.size());
  for (int i = 0; i < holders; ++i) {
    const ShardId shard = draft.ShardOf(value, i, micro_batch);
    const MachineDeviceId device = draft.shards[shard].device;
    auto participant = absl::c_find_if(
        participants,
        [&](const CollectiveRank& p) { return p.device == device; });
    if (participant == participants.end()) {
      participant = participants.insert(participant, {.device = device});
    }
    participant->sends = shard;
    if (holders == 1) participant->receives = {};
  }
  return participants;
}

}  // namespace partita
