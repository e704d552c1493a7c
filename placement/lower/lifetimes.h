// Step 6: when the bytes of each storage live.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_LIFETIMES_H_
#define PARTITA_PLACEMENT_LOWER_LIFETIMES_H_

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "placement/lower/device_clocks.h"
#include "placement/lower/pack.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// When the bytes of one item are touched.
struct Life {
  int first = 0;                          // task
  int last = 0;                           // task
  std::vector<std::pair<int, int>> ends;  // stream, last position in it
  std::vector<int> known;                 // by stream, what every toucher knows
};

// True if the item has ended for whoever knows this much of each stream.
bool EndedBefore(const Life& life, absl::Span<const int> known);

// The step part of one device as a packing problem, still without conflicts.
struct DeviceStorages {
  std::vector<int> storages;  // by body of the problem
  PackProblem problem;
  std::vector<Life> lives;  // by item of the problem
  int64_t bound = 0;        // no layout can do with less
};

// `tasks`: those that touch the device.
DeviceStorages FindLives(const PlanDraft& draft, const DeviceClocks& clocks,
                         absl::Span<const int> tasks, int device);

// Items in the order in which they are first touched.
std::vector<int> ByFirstTouch(const std::vector<Life>& lives);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LIFETIMES_H_
