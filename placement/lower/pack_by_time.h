// Assigns offsets in launch order, as an allocator does at run time.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PACK_BY_TIME_H_
#define PARTITA_PLACEMENT_LOWER_PACK_BY_TIME_H_

#include "placement/lower/device_clocks.h"
#include "placement/lower/live_ranges.h"
#include "placement/lower/pack.h"

namespace partita {

// Every stream has its own arena. A buffer is allocated in the arena of the
// stream that first accesses it, in the smallest gap that holds it. It is freed
// once that stream knows that all intervals of the buffer have ended. A stream
// without a gap that holds its buffer takes over the smallest buffer of another
// arena that it knows to have ended and that holds it, before it extends its
// own. Compares no pairs: O(s n log n) for n intervals and s streams.
Packing PackByTime(const DeviceStorages& storages, const DeviceClocks& clocks);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PACK_BY_TIME_H_
