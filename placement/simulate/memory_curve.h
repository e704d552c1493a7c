// The memory use of each device over the predicted time of a step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_MEMORY_CURVE_H_
#define PARTITA_PLACEMENT_SIMULATE_MEMORY_CURVE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/plan.h"

namespace partita {

// The bytes in use from `time` (seconds) to the next point.
struct MemoryPoint {
  double time = 0;
  int64_t bytes = 0;
};

// A step-local buffer while its bytes count, in seconds: from the start of a
// command that writes it to the end of the last command that reads it before
// the next write. A slot of a channel counts from the start of its send to the
// end of its recv. A buffer that is written several times is listed as often.
struct LiveBuffer {
  BufferId buffer;
  double from = 0;
  double to = 0;
};

// By plan device, in the order of their starts. InvalidArgument if `simulation`
// is of another entry.
absl::StatusOr<std::vector<std::vector<LiveBuffer>>> LiveBuffers(
    const Plan& plan, int entry, const Simulation& simulation);

// By plan device. Persistent bytes always count, and those of LiveBuffers while
// they are live. Bytes that several buffers share count once. A strided range
// counts from its first to its last byte. Errors as LiveBuffers.
//
// A count of its own: placement/lower/live_bytes.h counts the storages of a
// draft, one task after another. A plan has no storages, only addresses, which
// buffers may share in part, and here commands run at the same time.
absl::StatusOr<std::vector<std::vector<MemoryPoint>>> MemoryCurves(
    const Plan& plan, int entry, const Simulation& simulation);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_MEMORY_CURVE_H_
