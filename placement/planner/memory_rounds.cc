// Lowers the limit of the device that lacks most.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/memory_rounds.h"

#include <algorithm>
#include <utility>

namespace partita {
namespace {

constexpr int kMostRounds = 8;
constexpr int kMostVainRounds = 2;

}  // namespace

MemoryRounds::MemoryRounds(std::vector<int64_t> usable, bool reads_limits)
    : limits_(std::move(usable)),
      most_rounds_(reads_limits ? kMostRounds : 1) {}

bool MemoryRounds::goes_on() const {
  return round_ < most_rounds_ && vain_ < kMostVainRounds;
}

bool MemoryRounds::EndShort(int device, int64_t missing) {
  const bool is_least = is_first() || missing < least_missing_;
  vain_ = is_least ? 0 : vain_ + 1;
  if (is_least) least_missing_ = missing;
  ++round_;
  int64_t& limit = limits_[device];
  limit = std::max<int64_t>(0, limit - missing);
  return is_least;
}

}  // namespace partita
