// Splits work with few large items over threads.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_WORK_SPLIT_H_
#define PARTITA_KERNELS_WINOGRAD_WORK_SPLIT_H_

#include <cstdint>

namespace partita {

// The fewest parts of each item for which all threads get the same number of
// parts, or at least four.
inline int64_t PartsFor(int64_t items, int64_t threads) {
  int64_t parts = 1;
  while (items * parts % threads != 0 && items * parts < 4 * threads) ++parts;
  return parts;
}

// The largest number of items of a thread, over the mean.
inline double Imbalance(int64_t items, int64_t threads) {
  const int64_t largest = (items + threads - 1) / threads;
  return static_cast<double>(largest * threads) / static_cast<double>(items);
}

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_WORK_SPLIT_H_
