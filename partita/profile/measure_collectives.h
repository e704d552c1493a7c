// Measures collectives between two CPU devices by plans that have one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_MEASURE_COLLECTIVES_H_
#define PARTITA_PARTITA_PROFILE_MEASURE_COLLECTIVES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "placement/machine/link_collectives.h"
#include "placement/machine/machine.h"

namespace partita {

// A collective of two ranks in steps, as traces show it.
struct TimedCollective {
  int64_t bytes = 0;   // that each rank supplies
  double seconds = 0;  // from the last arrival to the last end; the median
};

// The latency is what the smallest takes beside `launch` seconds, which
// predictions add to each collective, and the bandwidth what the largest one
// adds to the next. OutOfRange if the largest is no slower than the next: there
// is nothing to divide by. Needs: three or more, by size.
absl::StatusOr<CollectiveFigures> FitCollective(
    absl::Span<const TimedCollective> collectives, double launch);

// True if both ends of the link share the host, so that ranks wait for each
// other as threads and copy through its memory.
bool JoinsHostDevices(const Machine& machine, const Link& link);

// Compiles and runs plans over the two ends of the link alone: an all_gather
// (an all_reduce) of 4 KiB, 256 KiB and 2 MiB. Errors of Compile and Session,
// such as a device that is not here; FailedPrecondition if a plan has no
// collective, as an all_reduce over devices that are not identical. Needs:
// JoinsHostDevices.
absl::StatusOr<CollectiveFigures> MeasureGather(const Machine& machine,
                                                const Link& link);
absl::StatusOr<CollectiveFigures> MeasureReduce(const Machine& machine,
                                                const Link& link);

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_MEASURE_COLLECTIVES_H_
