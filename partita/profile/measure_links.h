// Measures the links of a machine by plans that copy.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_MEASURE_LINKS_H_
#define PARTITA_PARTITA_PROFILE_MEASURE_LINKS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "placement/machine/machine.h"
#include "placement/machine/profile.h"

namespace partita {

// A copy of a step, as traces show it.
struct CopySeconds {
  int64_t bytes = 0;
  double seconds = 0;  // the median over steps
};

// Latency and bandwidth of copies: the latency is that of the smallest, and the
// bandwidth what the largest one adds to the next. OutOfRange if the largest is
// no slower than the next: there is nothing to divide by. Needs: three or more,
// by size.
absl::StatusOr<MeasuredLink> FitLink(const Link& link,
                                     absl::Span<const CopySeconds> copies);

// Compiles and runs plans of two nodes, one on each end, with copies of 4 KiB,
// 256 KiB and 16 MiB. Errors of Compile and Session, such as a device that is
// not here.
absl::StatusOr<MeasuredLink> MeasureLink(const Machine& machine,
                                         const Link& link);

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_MEASURE_LINKS_H_
