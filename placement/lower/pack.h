// Step 7: addresses for bodies of bytes, some of which may overlap.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PACK_H_
#define PARTITA_PLACEMENT_LOWER_PACK_H_

#include <cstdint>
#include <vector>

namespace partita {

// Bytes [begin, end) of a body that live and die together.
struct PackItem {
  int body = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int first = 0;               // when it lives, in launch order; guides the
  int last = 0;                // search only
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

// Tries several orders, first and best fit, then moves what reaches highest
// nearer to the front again and again. Ends when `target` bytes are reached or
// after `budget` looks at conflicts (some times as many while the packing is
// far above the target), so the same problem gives the same packing.
Packing Pack(const PackProblem& problem, int64_t target, int64_t budget);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PACK_H_
