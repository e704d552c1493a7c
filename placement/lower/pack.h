// Packs byte ranges with conflicts into few bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PACK_H_
#define PARTITA_PLACEMENT_LOWER_PACK_H_

#include <cstdint>
#include <vector>

#include "graph/id_vector.h"
#include "graph/ids.h"

namespace partita {

// 0 .. PackProblem::num_buffers - 1
using PackBufferId = Id<struct PackBufferTag>;
// Index into PackProblem::intervals.
using PackIntervalId = Id<struct PackIntervalTag>;

// Bytes [begin, end) of a buffer with one live range.
struct PackInterval {
  PackBufferId buffer;
  int64_t begin = 0;
  int64_t end = 0;
  // Live range in launch order; only guides the search.
  int first = 0;
  int last = 0;
  std::vector<PackIntervalId> conflicts;  // intervals that must not overlap it
};

struct PackProblem {
  IdRange<PackBufferId> buffers() const {
    return IdRange<PackBufferId>(num_buffers);
  }

  int num_buffers = 0;
  IdVector<PackIntervalId, PackInterval> intervals;
  int64_t alignment = 64;
};

struct Packing {
  IdVector<PackBufferId, int64_t> offsets;
  int64_t bytes = 0;
};

// Tries several orders with first and best fit. Then improves the results:
// repeatedly moves a buffer that reaches the highest offset nearer to the front
// of its order. Stops at `target` bytes or after `budget` comparisons of
// conflicting intervals (a multiple of it while the packing is far above the
// target). Deterministic.
Packing Pack(const PackProblem& problem, int64_t target, int64_t budget);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PACK_H_
