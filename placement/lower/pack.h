// Packs byte ranges with conflicts into few bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PACK_H_
#define PARTITA_PLACEMENT_LOWER_PACK_H_

#include <cstdint>
#include <vector>

#include "graph/id_vector.h"
#include "graph/ids.h"

namespace partita {

using PackBodyId = Id<struct PackBodyTag>;  // 0 .. PackProblem::num_bodies - 1
using PackItemId = Id<struct PackItemTag>;  // index into PackProblem::items

// Bytes [begin, end) of a body with one live range.
struct PackItem {
  PackBodyId body;
  int64_t begin = 0;
  int64_t end = 0;
  // Live range in launch order; only guides the search.
  int first = 0;
  int last = 0;
  std::vector<PackItemId> conflicts;  // items that must not overlap it
};

struct PackProblem {
  IdRange<PackBodyId> bodies() const { return IdRange<PackBodyId>(num_bodies); }

  int num_bodies = 0;
  IdVector<PackItemId, PackItem> items;
  int64_t alignment = 64;
};

struct Packing {
  IdVector<PackBodyId, int64_t> addresses;
  int64_t bytes = 0;
};

// Tries several orders with first and best fit. Then improves the results:
// repeatedly moves a body that reaches the highest address nearer to the front
// of its order. Stops at `target` bytes or after `budget` comparisons of
// conflicting items (a multiple of it while the packing is far above the
// target). Deterministic.
Packing Pack(const PackProblem& problem, int64_t target, int64_t budget);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PACK_H_
