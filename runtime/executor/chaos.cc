// Delays from a hash of the seed, the step and the command.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/chaos.h"

namespace partita {
namespace {

// The finaliser of SplitMix64 (Steele et al. 2014).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

std::chrono::nanoseconds ChaosDelay(uint64_t seed, uint64_t step, int command) {
  const uint64_t bits =
      Mix(Mix(Mix(seed) ^ step) ^ static_cast<uint64_t>(command));
  const uint64_t kind = bits % 32;
  const uint64_t amount = bits >> 8;
  if (kind < 12) return std::chrono::nanoseconds(0);
  if (kind == 31) return std::chrono::microseconds(1000 + amount % 3000);
  return std::chrono::microseconds(amount % 400);
}

}  // namespace partita
