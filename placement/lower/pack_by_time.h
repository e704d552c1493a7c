// Addresses in launch order, as an allocator would give them out.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PACK_BY_TIME_H_
#define PARTITA_PLACEMENT_LOWER_PACK_BY_TIME_H_

#include "placement/lower/clocks.h"
#include "placement/lower/lifetimes.h"
#include "placement/lower/pack.h"

namespace partita {

// Each body takes the smallest gap that holds it when it is first touched, and
// leaves it once every stream knows that all its items have ended. Looks at no
// pairs: n log n in the items.
Packing PackByTime(const DeviceStorages& storages, const Clocks& clocks);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PACK_BY_TIME_H_
