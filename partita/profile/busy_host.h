// Signs that other programs ran while a profile was measured.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_BUSY_HOST_H_
#define PARTITA_PARTITA_PROFILE_BUSY_HOST_H_

#include <cstddef>

#include "placement/machine/profile.h"

namespace partita {

struct BusyHost {
  size_t kernels = 0;       // measured with warm and with cold caches
  size_t disturbed = 0;     // of them
  double wake_seconds = 0;  // 0: not measured

  // One in 20 kernels or more are disturbed, or a thread took more than 1 ms to
  // wake.
  bool is_busy() const;
};

// What was measured just now, not merged with older measurements.
//  1. A kernel is disturbed if it took more than 1.5 times as long with warm
//     caches as with cold ones. Warm caches slow no kernel down, so another
//     program ran meanwhile. On a quiet host the two differ by at most some per
//     cent where caches do not matter, and a rare interrupt disturbs few
//     kernels: hence the factor, and the share in is_busy.
//  2. A thread wakes within some 100 us if a core is idle. After a millisecond
//     or more, it waited for the time slice of another program to end.
BusyHost FindBusyHost(const Profile& fresh);

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_BUSY_HOST_H_
