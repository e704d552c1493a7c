// Finds which bytes may not overlap, and chooses all offsets.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_CONFLICTS_H_
#define PARTITA_PLACEMENT_LOWER_CONFLICTS_H_

#include "placement/lower/device_clocks.h"
#include "placement/lower/equal_packs.h"
#include "placement/lower/live_ranges.h"
#include "placement/lower/pack.h"

namespace partita {

// Fills in the conflicts of each interval, ascending. Two intervals conflict
// unless everything that accesses one has ended before anything that accesses
// the other. O(n log n + c log c) for n intervals with c conflicts, as long as
// few streams access each interval.
void FindConflicts(const DeviceClocks& clocks, DeviceStorages& storages);

// Chooses offsets for the buffers of one device. Many intervals are first
// packed by time, in one pass. Few intervals, and those that packing by time
// leaves far above the bound, are packed by search. `storages` must outlive
// `packs`.
Packing LayOut(DeviceStorages& storages, const DeviceClocks& clocks,
               EqualPacks& packs);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_CONFLICTS_H_
