// Addresses in launch order, as an allocator would give them out.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PACK_BY_TIME_H_
#define PARTITA_PLACEMENT_LOWER_PACK_BY_TIME_H_

#include "placement/lower/device_clocks.h"
#include "placement/lower/lifetimes.h"
#include "placement/lower/pack.h"

namespace partita {

// Every stream has an arena of its own, of which a body takes the smallest gap
// that holds it when the stream first touches it; it leaves the gap once the
// stream knows that all its items have ended. Looks at no pairs: n log n in the
// items. Loose where the streams need most at different times.
Packing PackByTime(const DeviceStorages& storages, const DeviceClocks& clocks);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PACK_BY_TIME_H_
