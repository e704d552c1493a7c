// Step 7: which bytes may not be shared, and where all of them lie.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_CONFLICTS_H_
#define PARTITA_PLACEMENT_LOWER_CONFLICTS_H_

#include "placement/lower/device_clocks.h"
#include "placement/lower/lifetimes.h"
#include "placement/lower/pack.h"

namespace partita {

// Two items conflict unless everything that touches one has ended before
// anything that touches the other. Lists them ascending. Quadratic in what
// lives at once.
void FindConflicts(const DeviceClocks& clocks, DeviceStorages& storages);

// Addresses for the device's bodies. Many items are first packed by time, in
// one go; few, and those that time alone packs badly, by search (`budget` is
// Pack's).
Packing LayOut(DeviceStorages& storages, const DeviceClocks& clocks,
               int64_t budget);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_CONFLICTS_H_
