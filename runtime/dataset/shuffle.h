// The order of samples in an epoch.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_SHUFFLE_H_
#define PARTITA_RUNTIME_DATASET_SHUFFLE_H_

#include <cstdint>
#include <vector>

namespace partita {

// A uniformly random permutation of 0 .. count - 1, the same on every machine.
// The shuffle of Fisher and Yates (Durstenfeld 1964): for i = count - 1 .. 1,
// swaps element i with element j of 0 .. i, where j is drawn without bias
// (Lemire 2019) from the 64-bit words of Philox4x32-10, whose counter is
// (block, epoch) and whose key is the seed.
std::vector<int64_t> ShuffledOrder(int64_t count, uint64_t seed,
                                   uint64_t epoch);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_SHUFFLE_H_
