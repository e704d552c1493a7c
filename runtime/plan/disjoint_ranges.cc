// Compares a range with its neighbours on both sides.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/disjoint_ranges.h"

#include <iterator>

namespace partita {

bool DisjointRanges::Take(int64_t offset, int64_t size) {
  if (size == 0) return true;
  const auto next = ends_.lower_bound(offset);
  if (next != ends_.end() && next->first < offset + size) return false;
  if (next != ends_.begin() && std::prev(next)->second > offset) return false;
  ends_.emplace_hint(next, offset, offset + size);
  return true;
}

}  // namespace partita
