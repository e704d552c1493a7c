// Packs equal problems once.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_EQUAL_PACKS_H_
#define PARTITA_PLACEMENT_LOWER_EQUAL_PACKS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "placement/lower/pack.h"

namespace partita {

// Packs as Pack does with this budget, but searches once where problems are
// equal. Those of replicas often are: the tasks of their ranks are adjacent, so
// all positions in launch order differ by the same number, on which no packing
// depends. Thread safety: none.
class EqualPacks {
 public:
  explicit EqualPacks(int64_t budget) : budget_(budget) {}

  // What Pack(problem, target, budget) returns. The problem must not change,
  // and outlive this.
  Packing Pack(const PackProblem& problem, int64_t target);
  // The number of problems that were packed so far.
  size_t num_packed() const { return packings_.size(); }

 private:
  struct Key {
    const PackProblem* problem;
    int64_t target;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  struct Equal {
    bool operator()(const Key& a, const Key& b) const;
  };

  const int64_t budget_;
  absl::flat_hash_map<Key, Packing, Hash, Equal> packings_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_EQUAL_PACKS_H_
