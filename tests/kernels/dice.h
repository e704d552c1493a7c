// Random choices that depend only on the seed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_KERNELS_DICE_H_
#define PARTITA_TESTS_KERNELS_DICE_H_

#include <cstdint>
#include <initializer_list>
#include <random>

namespace partita {

// The same on every host: uses no library's distribution.
class Dice {
 public:
  // For the item of this number among those drawn with one seed.
  Dice(uint64_t seed, uint64_t number) {
    std::seed_seq both{seed, seed >> 32, number};
    random_.seed(both);
  }
  int64_t Below(int64_t count) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(count));
  }
  int64_t Between(int64_t least, int64_t most) {
    return least + Below(most - least + 1);
  }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T>
  T Of(std::initializer_list<T> all) {
    return all.begin()[Below(static_cast<int64_t>(all.size()))];
  }
  // One, odd numbers, and those around the blocks of vectors.
  int64_t Channels() {
    return Of<int64_t>({1,  1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 15,
                        16, 16, 17, 19, 20, 24, 31, 32, 32, 33, 48, 64, 65});
  }
  // Of images.
  int64_t Extent() {
    return Of<int64_t>({1,  1,  2,  3,  4,  5,  6,  7,  7,  8, 9,
                        11, 13, 14, 15, 16, 17, 20, 23, 28, 33});
  }
  // Of matrices.
  int64_t Length() {
    return Of<int64_t>({1,  1,  2,  3,  4,  5,  7,  8,  9,  15, 16,  17,
                        24, 31, 32, 33, 47, 48, 63, 64, 65, 96, 100, 129});
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace partita

#endif  // PARTITA_TESTS_KERNELS_DICE_H_
