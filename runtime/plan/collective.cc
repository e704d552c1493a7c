// Derives collectives from nodes of the bound graph.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/collective.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "graph/core_ops.h"
#include "graph/shard.h"

namespace partita {

namespace {

using Kind = Sharding::Kind;

constexpr CollectiveDef kCollectives[] = {
    {.kind = CollectiveKind::kAllReduce,
     .name = "all_reduce",
     .from = Kind::kPartial,
     .reduces = true,
     .is_bucketed = true,
     .ring_rounds = 2,
     .has_tree = true},
    {.kind = CollectiveKind::kReduceScatter,
     .name = "reduce_scatter",
     .from = Kind::kPartial,
     .to = Kind::kSplit,
     .reduces = true},
    {.kind = CollectiveKind::kAllGather,
     .name = "all_gather",
     .from = Kind::kSplit,
     .is_bucketed = true,
     .has_whole_steps = true},
    {.kind = CollectiveKind::kAllToAll,
     .name = "all_to_all",
     .from = Kind::kSplit,
     .to = Kind::kSplit},
    {.kind = CollectiveKind::kBroadcast,
     .name = "broadcast",
     .routes = CollectiveRoutes::kFromRoot},
    {.kind = CollectiveKind::kPermute,
     .name = "permute",
     .routes = CollectiveRoutes::kShardwise},
};

constexpr bool AreInTheOrderOfKinds() {
  int number = 0;
  for (const CollectiveDef& def : kCollectives) {
    if (static_cast<int>(def.kind) != number++) return false;
  }
  return true;
}
static_assert(AreInTheOrderOfKinds());

// The kind of collective from operand `i` to result `i`.
std::optional<CollectiveKind> KindOf(const Placement& placement, int i) {
  const Sharding from = ShardingOf(placement.operands, i);
  const Sharding to = ShardingOf(placement.results, i);
  if (from == to) return std::nullopt;
  for (const CollectiveDef& def : kCollectives) {
    if (def.routes == CollectiveRoutes::kAll && def.from == from.kind &&
        def.to == to.kind) {
      return def.kind;
    }
  }
  return std::nullopt;
}

// The common kind of all values, if there may be several.
std::optional<CollectiveKind> KindOfBucket(const OpView& bucket) {
  if (bucket.num_operands() == 0 ||
      bucket.num_operands() != bucket.num_results()) {
    return std::nullopt;
  }
  const Placement& placement = bucket.node().placement;
  const std::optional<CollectiveKind> kind = KindOf(placement, 0);
  if (!kind.has_value() || !DefOf(*kind).is_bucketed) return std::nullopt;
  for (int i = 1; i < bucket.num_operands(); ++i) {
    if (KindOf(placement, i) != kind) return std::nullopt;
  }
  return kind;
}

const Placement& MadeAt(const Graph& graph, const Value& value) {
  return value.defining_node.valid() ? graph.node(value.defining_node).placement
                                     : graph.input_placement(value.index);
}

// For a copy that changes the devices of a value but not its sharding.
std::optional<CollectiveKind> MoveOf(const OpView& copy) {
  if (copy.operand_type(0) != copy.result_type(0)) return std::nullopt;
  const Value& value = copy.graph().value(copy.node().operands[0]);
  const Placement& from = MadeAt(copy.graph(), value);
  const Placement& to = copy.node().placement;
  const bool one = from.devices.size() == 1;
  const Sharding sharding =
      one ? Sharding()
          : ShardingOf(from.results,
                       value.defining_node.valid() ? value.index : 0);
  if (sharding != ShardingOf(to.operands, 0) ||
      sharding != ShardingOf(to.results, 0)) {
    return std::nullopt;
  }
  if (one) return CollectiveKind::kBroadcast;
  if (sharding.kind == Kind::kSplit && EachMoves(from.devices, to.devices)) {
    return CollectiveKind::kPermute;
  }
  return std::nullopt;
}

}  // namespace

const CollectiveDef& DefOf(CollectiveKind kind) {
  return kCollectives[static_cast<int>(kind)];
}

absl::string_view CollectiveName(CollectiveKind kind) {
  return DefOf(kind).name;
}

std::optional<CollectiveKind> CollectiveOf(const OpView& node) {
  const Placement& placement = node.node().placement;
  if (placement.devices.size() < 2) return std::nullopt;
  if (node.is(kBucket)) return KindOfBucket(node);
  if (!IsCopy(node) || node.num_operands() != 1 || node.num_results() != 1) {
    return std::nullopt;
  }
  const std::optional<CollectiveKind> kind = KindOf(placement, 0);
  return kind.has_value() ? kind : MoveOf(node);
}

std::vector<Participant> ParticipantsOf(const OpView& node) {
  const std::optional<CollectiveKind> kind = CollectiveOf(node);
  const CollectiveRoutes routes =
      kind.has_value() ? DefOf(*kind).routes : CollectiveRoutes::kAll;
  const bool roots = routes == CollectiveRoutes::kFromRoot;
  const bool moves = routes != CollectiveRoutes::kAll;
  std::vector<Participant> ranks;
  absl::flat_hash_map<absl::string_view, size_t> rank_on;
  for (const std::string& device : node.node().placement.devices) {
    const int i = static_cast<int>(ranks.size());
    ranks.push_back({device, moves ? -1 : i, i});
    rank_on.emplace(device, i);
  }
  if (!moves) return ranks;
  const Value& value = node.graph().value(node.node().operands[0]);
  const Placement& held = MadeAt(node.graph(), value);
  for (size_t i = 0; i < held.devices.size(); ++i) {
    const auto [it, outside] = rank_on.emplace(held.devices[i], ranks.size());
    if (outside) ranks.push_back({.device = held.devices[i]});
    Participant& giver = ranks[it->second];
    giver.gives = static_cast<int>(i);
    if (roots) giver.takes = -1;
  }
  return ranks;
}

bool EachMoves(absl::Span<const std::string> from,
               absl::Span<const std::string> to) {
  if (from.size() != to.size()) return false;
  absl::flat_hash_set<absl::string_view> seen;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i] || !seen.insert(from[i]).second) return false;
  }
  return true;
}

bool IsCopy(const OpView& node) { return node.is(kCopy); }

}  // namespace partita
