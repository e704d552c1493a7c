// Ranges of a file that must not overlap.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_DISJOINT_RANGES_H_
#define PARTITA_RUNTIME_PLAN_DISJOINT_RANGES_H_

#include <cstdint>

#include "absl/container/btree_map.h"

namespace partita {

class DisjointRanges {
 public:
  // Takes the `size` bytes at `offset`, which are inside the file. False, and
  // nothing is taken, if one of them is already taken.
  bool Take(int64_t offset, int64_t size);

 private:
  absl::btree_map<int64_t, int64_t> ends_;  // by offset; no range is empty
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_DISJOINT_RANGES_H_
