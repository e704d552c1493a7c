// Random live ranges for tests of conflicts and packing.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_RANDOM_STORAGES_H_
#define PARTITA_PLACEMENT_LOWER_RANDOM_STORAGES_H_

#include <random>

#include "placement/lower/clocks.h"
#include "placement/lower/device_clocks.h"
#include "placement/lower/live_ranges.h"

namespace partita {

// Tasks in random streams that wait for random earlier ones. Streams with high
// numbers begin late or end early, as copy streams do.
Clocks RandomClocks(int tasks, int streams, std::mt19937& random);

// Buffers of one interval of 64 bytes, accessed by up to three of the tasks.
DeviceStorages RandomStorages(const DeviceClocks& clocks, int tasks,
                              int buffers, std::mt19937& random);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_RANDOM_STORAGES_H_
