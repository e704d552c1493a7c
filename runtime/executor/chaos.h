// Random delays for tests: a correct plan gives the same results under any of
// them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_CHAOS_H_
#define PARTITA_RUNTIME_EXECUTOR_CHAOS_H_

#include <chrono>
#include <cstdint>

namespace partita {

// The delay before command `command` of step `step`: often zero, mostly some
// hundred microseconds, sometimes a few milliseconds.
std::chrono::nanoseconds ChaosDelay(uint64_t seed, uint64_t step, int command);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_CHAOS_H_
