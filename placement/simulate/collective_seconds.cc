// Finds the routes of a collective, and prices them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/collective_seconds.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/shard.h"
#include "placement/cost/collective_cost.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

// The ranks in ring order, the root first.
std::vector<std::string> ChainFromRoot(std::vector<Participant> ranks) {
  std::rotate(
      ranks.begin(),
      absl::c_find_if(ranks, [](const Participant& p) { return p.gives >= 0; }),
      ranks.end());
  std::vector<std::string> chain;
  for (Participant& rank : ranks) {
    chain.push_back(std::move(rank.device));
  }
  return chain;
}

// The routes of the shards of a permute.
std::vector<Route> RoutesOf(const std::vector<Participant>& ranks) {
  std::vector<Route> routes;
  for (const Participant& to : ranks) {
    for (const Participant& from : ranks) {
      if (to.takes < 0 || from.gives != to.takes) continue;
      routes.push_back({from.device, to.device});
    }
  }
  return routes;
}

double LargestShard(const OpView& node) {
  const Placement& placement = node.node().placement;
  const int ranks = static_cast<int>(placement.devices.size());
  int64_t bytes = 0;
  for (int m = 0; m < ranks; ++m) {
    bytes =
        std::max(bytes, ShardType(node.operand_type(0),
                                  ShardingOf(placement.operands, 0), m, ranks)
                            .num_bytes());
  }
  return static_cast<double>(bytes);
}

}  // namespace

absl::StatusOr<double> SecondsOfCollective(
    const OpView& node, double bytes, const std::vector<std::string>& ranks,
    const LinkTable& links) {
  const std::optional<CollectiveKind> kind = CollectiveOf(node);
  if (!kind.has_value()) {
    return absl::InvalidArgumentError(
        "found a collective command whose node is no collective; expected a "
        "plan that the checker accepts");
  }
  switch (DefOf(*kind).routes) {
    case CollectiveRoutes::kAll:
      break;
    case CollectiveRoutes::kFromRoot:
      return BroadcastSeconds(
          static_cast<double>(node.operand_type(0).num_bytes()),
          ChainFromRoot(ParticipantsOf(node)), links);
    case CollectiveRoutes::kShardwise:
      return TransferSeconds(LargestShard(node), RoutesOf(ParticipantsOf(node)),
                             links);
  }
  return CollectiveSeconds(*kind, bytes, ranks, links);
}

}  // namespace partita
