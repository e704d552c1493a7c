// The heaviest set of pairwise unordered elements of a partial order.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_ANTICHAIN_H_
#define PARTITA_PLACEMENT_LOWER_ANTICHAIN_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/id_vector.h"
#include "placement/lower/ids.h"

namespace partita {

// A live range in a system of streams. It begins at `position` of `stream`;
// every task that accesses it knows that the first `known[s]` tasks of each
// stream s have ended. It ends when each stream in `ends` has passed the
// position there.
struct StreamLiveRange {
  int64_t weight = 0;
  DeviceStreamId stream;
  int position = 0;
  IdVector<DeviceStreamId, int> known;
  std::vector<std::pair<DeviceStreamId, int>> ends;  // stream, position
};

// True if `a` has ended before `b` begins.
bool EndsBefore(const StreamLiveRange& a, const StreamLiveRange& b);

// Returns the largest total weight of pairwise unordered live ranges.
// EndsBefore, which orders them, must be transitive. By Dilworth (1950) the
// result is the least number of unit-weight chains that cover all weight: the
// total weight less a maximum flow that passes weight from a live range to a
// later one. `live_ranges` must be in a linear extension of the order.
int64_t HeaviestAntichain(const std::vector<StreamLiveRange>& live_ranges);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_ANTICHAIN_H_
