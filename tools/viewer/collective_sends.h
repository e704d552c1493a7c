// What a rank of a collective sends to other ranks.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_COLLECTIVE_SENDS_H_
#define PARTITA_TOOLS_VIEWER_COLLECTIVE_SENDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/plan/collective.h"

namespace partita {

struct RankSend {
  size_t to = 0;  // a rank
  int64_t bytes = 0;
};

// The sends of `rank` in the ring or the chain of the cost model
// (placement/cost/collective_cost.h), also where a tree would be faster: to the
// next rank; in a permute, to the ranks that take its shard. `bytes` are those
// that the rank supplies and, in a broadcast, those of the value.
std::vector<RankSend> SendsOf(CollectiveKind kind,
                              const std::vector<Participant>& ranks,
                              size_t rank, int64_t bytes);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_COLLECTIVE_SENDS_H_
