// Asks a strategy again, with less memory to fill, if its draft does not fit.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_MEMORY_ROUNDS_H_
#define PARTITA_PLACEMENT_PLANNER_MEMORY_ROUNDS_H_

#include <cstdint>
#include <vector>

namespace partita {

// The limits of each round, and how many rounds there are: a strategy gives up
// after kMostRounds, or once lower limits no longer make the shortage smaller.
// A strategy that does not read limits has one round.
class MemoryRounds {
 public:
  // `usable`: bytes by machine device.
  MemoryRounds(std::vector<int64_t> usable, bool reads_limits);

  bool goes_on() const;
  bool is_first() const { return round_ == 0; }
  // Objective::memory_limits of this round.
  const std::vector<int64_t>& limits() const { return limits_; }
  // Ends the round, whose draft lacks `missing` bytes on the device. True if
  // that is less than in all rounds before.
  bool EndShort(int device, int64_t missing);

 private:
  std::vector<int64_t> limits_;
  const int most_rounds_;
  int round_ = 0;
  int vain_ = 0;  // rounds since the shortage became smaller
  int64_t least_missing_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_MEMORY_ROUNDS_H_
