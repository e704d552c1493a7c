// Exchanges by where a value lies and where it goes.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/exchange.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "placement/cost/collective_cost.h"
#include "placement/lower/pieces.h"

namespace partita {
namespace {

using Devices = absl::InlinedVector<std::string, 1>;

// `from`, then those behind it in the set, then the others: a ring cut open.
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
                         const Machine& machine) {
  std::vector<Route> copies;
  for (size_t i = 1; i < chain.size(); ++i) {
    copies.push_back({chain[0], chain[i]});
  }
  const auto by_copies = TransferSeconds(bytes, copies, machine);
  const auto at_once = BroadcastSeconds(bytes, chain, machine);
  return copies.size() > 1 && by_copies.ok() && at_once.ok() &&
         *at_once <= *by_copies;
}

bool EachMoves(const Devices& from, const Devices& to) {
  if (from.size() != to.size()) return false;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) return false;
  }
  return true;
}

bool IsExchange(const PlanDraft& draft, const OpView& copy,
                const Machine& machine) {
  const ValueId value = copy.operand(0).id();
  const Devices& from = draft.PlacementOf(value).devices;
  const Devices& to = copy.node().placement.devices;
  const Sharding sharding = ShardingOf(draft, value);
  const int64_t bytes = copy.operand_type(0).num_bytes();
  if (to.size() < 2 || bytes == 0 ||
      copy.operand_type(0) != copy.result_type(0) ||
      sharding != ShardingOf(draft, copy.result(0).id())) {
    return false;
  }
  if (from.size() > 1) {
    return sharding.kind == Sharding::Kind::kSplit && EachMoves(from, to);
  }
  return BroadcastIsNoSlower(static_cast<double>(bytes), ChainFrom(from[0], to),
                             machine);
}

}  // namespace

std::vector<ExchangePart> FindExchange(const PlanDraft& draft,
                                       const OpView& copy, int micro_batch,
                                       const Machine& machine) {
  std::vector<ExchangePart> parts;
  if (!IsExchange(draft, copy, machine)) return parts;
  const ValueId value = copy.operand(0).id();
  const ValueId result = copy.result(0).id();
  const Devices& to = copy.node().placement.devices;
  for (int i = 0; i < static_cast<int>(to.size()); ++i) {
    parts.push_back({.device = draft.devices->index.at(to[i]),
                     .takes = draft.PieceOf(result, i, micro_batch)});
  }
  const int holders = static_cast<int>(draft.PlacementOf(value).devices.size());
  for (int i = 0; i < holders; ++i) {
    const int piece = draft.PieceOf(value, i, micro_batch);
    const int device = draft.pieces[piece].device;
    auto part = absl::c_find_if(
        parts, [&](const ExchangePart& p) { return p.device == device; });
    if (part == parts.end()) part = parts.insert(part, {.device = device});
    part->gives = piece;
    if (holders == 1) part->takes = -1;
  }
  return parts;
}

}  // namespace partita
