// Fisher-Yates with a counter-based generator.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/shuffle.h"

#include <array>
#include <numeric>
#include <utility>

#include "graph/ops/philox.h"

namespace partita {
namespace {

// Distinguishes these words from those of random ops with the same seed:
// "SHUF".
constexpr uint32_t kPurpose = 0x53485546;

uint32_t Low(uint64_t word) { return static_cast<uint32_t>(word); }
uint32_t High(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

class RandomWords {
 public:
  RandomWords(uint64_t seed, uint64_t epoch)
      : key_{Low(seed), High(seed) ^ kPurpose}, epoch_(epoch) {}

  uint64_t Next() {
    if (half_ == 0) {
      block_ = Philox({Low(number_), High(number_), Low(epoch_), High(epoch_)},
                      key_);
      ++number_;
    }
    const uint64_t word = block_[half_] | uint64_t{block_[half_ + 1]} << 32;
    half_ ^= 2;
    return word;
  }

  // Uniform in 0 .. bound - 1: the high half of word * bound, after rejecting
  // the few words whose low half is below 2^64 mod bound.
  uint64_t Below(uint64_t bound) {
    const uint64_t uneven = -bound % bound;
    while (true) {
      const unsigned __int128 product =
          static_cast<unsigned __int128>(Next()) * bound;
      if (static_cast<uint64_t>(product) >= uneven) {
        return static_cast<uint64_t>(product >> 64);
      }
    }
  }

 private:
  const std::array<uint32_t, 2> key_;
  const uint64_t epoch_;
  uint64_t number_ = 0;  // of the next block
  std::array<uint32_t, 4> block_ = {};
  int half_ = 0;  // of the block: where its next word begins
};

}  // namespace

std::vector<int64_t> ShuffledOrder(int64_t count, uint64_t seed,
                                   uint64_t epoch) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  RandomWords words(seed, epoch);
  for (int64_t i = count - 1; i > 0; --i) {
    const uint64_t j = words.Below(static_cast<uint64_t>(i) + 1);
    std::swap(order[i], order[j]);
  }
  return order;
}

}  // namespace partita
