// Mutates bytes at random; deterministic for a seed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_FUZZ_MUTATE_H_
#define PARTITA_TESTS_FUZZ_MUTATE_H_

#include <random>
#include <string>
#include <vector>

namespace partita {

// One of the seeds, mutated in one to eight positions: bits, bytes, numbers at
// the edge of their range, ranges removed, duplicated, moved, or copied from
// another seed. At most `max_size` bytes.
std::string Mutate(const std::vector<std::string>& seeds, size_t max_size,
                   std::mt19937_64& random);

}  // namespace partita

#endif  // PARTITA_TESTS_FUZZ_MUTATE_H_
