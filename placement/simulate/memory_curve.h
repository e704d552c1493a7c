// How full each device is over the predicted time of a step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_MEMORY_CURVE_H_
#define PARTITA_PLACEMENT_SIMULATE_MEMORY_CURVE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/plan.h"

namespace partita {

// From `time` on until the next point.
struct MemoryPoint {
  double time = 0;
  int64_t bytes = 0;
};

// By plan device. Persistent bytes count always. A step-local byte counts from
// the start of a command that writes it to the end of the last command that
// reads it before it is written anew, a message's slot from the start of its
// send to the end of its recv; bytes that several buffers share count
// once. Of a strided range all bytes from its first to its last count.
absl::StatusOr<std::vector<std::vector<MemoryPoint>>> MemoryCurves(
    const Plan& plan, int entry, const Simulation& simulation);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_MEMORY_CURVE_H_
