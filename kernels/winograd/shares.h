// How work of few large items is shared out to threads.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_SHARES_H_
#define PARTITA_KERNELS_WINOGRAD_SHARES_H_

#include <cstdint>

namespace partita {

// The fewest parts of each item with which the threads' shares are as large as
// one another, or are of four parts at least.
inline int64_t PartsFor(int64_t items, int64_t threads) {
  int64_t parts = 1;
  while (items * parts % threads != 0 && items * parts < 4 * threads) ++parts;
  return parts;
}

// The largest share of so many items over the mean.
inline double Imbalance(int64_t items, int64_t threads) {
  const int64_t largest = (items + threads - 1) / threads;
  return static_cast<double>(largest * threads) / static_cast<double>(items);
}

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_SHARES_H_
