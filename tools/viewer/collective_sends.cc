// Counts the steps of a ring, and follows a chain from its root.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/collective_sends.h"

#include <algorithm>

namespace partita {
namespace {

int64_t RingBytes(const CollectiveDef& def, int64_t ranks, int64_t bytes) {
  const int64_t sent = def.ring_rounds * (ranks - 1) * bytes;
  return def.has_whole_steps ? sent : sent / ranks;
}

// The last rank of the chain sends nothing.
std::vector<RankSend> ChainSends(const std::vector<Participant>& ranks,
                                 size_t rank, int64_t bytes) {
  const auto root =
      std::find_if(ranks.begin(), ranks.end(),
                   [](const Participant& other) { return other.gives >= 0; });
  const size_t next = (rank + 1) % ranks.size();
  if (next == static_cast<size_t>(root - ranks.begin())) return {};
  return {{next, bytes}};
}

std::vector<RankSend> ShardSends(const std::vector<Participant>& ranks,
                                 size_t rank, int64_t bytes) {
  std::vector<RankSend> sends;
  for (size_t to = 0; to < ranks.size(); ++to) {
    if (to == rank || ranks[to].takes < 0) continue;
    if (ranks[to].takes == ranks[rank].gives) sends.push_back({to, bytes});
  }
  return sends;
}

}  // namespace

std::vector<RankSend> SendsOf(CollectiveKind kind,
                              const std::vector<Participant>& ranks,
                              size_t rank, int64_t bytes) {
  const CollectiveDef& def = DefOf(kind);
  switch (def.routes) {
    case CollectiveRoutes::kFromRoot:
      return ChainSends(ranks, rank, bytes);
    case CollectiveRoutes::kShardwise:
      return ShardSends(ranks, rank, bytes);
    case CollectiveRoutes::kAll:
      break;
  }
  const auto count = static_cast<int64_t>(ranks.size());
  return {{(rank + 1) % ranks.size(), RingBytes(def, count, bytes)}};
}

}  // namespace partita
