// Problems up to a shift of their live ranges.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/equal_packs.h"

#include <algorithm>
#include <limits>

#include "absl/hash/hash.h"

namespace partita {
namespace {

// The first position in launch order.
int BeginOf(const PackProblem& problem) {
  int begin = std::numeric_limits<int>::max();
  for (const PackInterval& interval : problem.intervals) {
    begin = std::min(begin, interval.first);
  }
  return begin;
}

// True if `a` differs from `b` in its positions only, by `later`.
bool IsLater(const PackInterval& a, const PackInterval& b, int later) {
  return a.buffer == b.buffer && a.begin == b.begin && a.end == b.end &&
         a.first == b.first + later && a.last == b.last + later &&
         a.conflicts == b.conflicts;
}

}  // namespace

size_t EqualPacks::Hash::operator()(const Key& key) const {
  const int begin = BeginOf(*key.problem);
  size_t hash = absl::HashOf(key.target, key.problem->num_buffers);
  for (const PackInterval& interval : key.problem->intervals) {
    hash = absl::HashOf(hash, interval.buffer, interval.begin, interval.end,
                        interval.first - begin, interval.last - begin,
                        interval.conflicts.size());
  }
  return hash;
}

bool EqualPacks::Equal::operator()(const Key& a, const Key& b) const {
  const PackProblem& x = *a.problem;
  const PackProblem& y = *b.problem;
  if (a.target != b.target || x.num_buffers != y.num_buffers ||
      x.alignment != y.alignment) {
    return false;
  }
  const int later =
      x.intervals.empty() || y.intervals.empty() ? 0 : BeginOf(x) - BeginOf(y);
  return std::equal(x.intervals.begin(), x.intervals.end(), y.intervals.begin(),
                    y.intervals.end(),
                    [&](const PackInterval& p, const PackInterval& q) {
                      return IsLater(p, q, later);
                    });
}

Packing EqualPacks::Pack(const PackProblem& problem, int64_t target) {
  const Key key{&problem, target};
  const auto found = packings_.find(key);
  if (found != packings_.end()) return found->second;
  return packings_.emplace(key, partita::Pack(problem, target, budget_))
      .first->second;
}

}  // namespace partita
