// The heaviest set of pairwise unordered elements of a partial order.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_ANTICHAIN_H_
#define PARTITA_PLACEMENT_LOWER_ANTICHAIN_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace partita {

// Something that lives in a system of streams. It ends when each stream of
// `ends` has passed the position there; it begins at `position` of `stream`,
// for a beginner who knows that the streams have got as far as `known`.
struct StreamLife {
  int64_t weight = 0;
  int stream = 0;
  int position = 0;
  std::vector<int> known;                 // by stream
  std::vector<std::pair<int, int>> ends;  // stream, position
};

// True if `a` has ended before `b` begins.
bool EndsBefore(const StreamLife& a, const StreamLife& b);

// The largest sum of weights of lives no two of which are ordered by
// EndsBefore, which must be transitive: the least number of unit chains that
// cover all weight (Dilworth 1950), so the sum of weights less a maximum flow
// that hands weight on from life to later life. `lives` are in a linear
// extension of the order.
int64_t HeaviestAntichain(const std::vector<StreamLife>& lives);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_ANTICHAIN_H_
