// Packs byte ranges with conflicts into few bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PACK_H_
#define PARTITA_PLACEMENT_LOWER_PACK_H_

#include <cstdint>
#include <vector>

namespace partita {

// Bytes [begin, end) of a body with one live range.
struct PackItem {
  int body = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int first = 0;               // live range in launch order; only guides the
  int last = 0;                // search
  std::vector<int> conflicts;  // items that must not overlap it
};

struct PackProblem {
  int num_bodies = 0;
  std::vector<PackItem> items;
  int64_t alignment = 64;
};

struct Packing {
  std::vector<int64_t> addresses;  // by body
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
