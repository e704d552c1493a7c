// Measures how long a thread of this host takes to wake up.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_MEASURE_WAKE_H_
#define PARTITA_PARTITA_PROFILE_MEASURE_WAKE_H_

namespace partita {

// MachineHost::wake_seconds: from the call that wakes a thread, which has slept
// for a few milliseconds, until it runs; the median of some. Takes about a
// tenth of a second.
double MeasureWakeSeconds();

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_MEASURE_WAKE_H_
