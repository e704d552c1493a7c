// Finds the tasks to run after all kernels that do not need them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_DELAYED_ALL_REDUCES_H_
#define PARTITA_PLACEMENT_LOWER_DELAYED_ALL_REDUCES_H_

#include <cstdint>

#include "graph/id_vector.h"
#include "placement/lower/dependencies.h"
#include "placement/lower/ids.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Which readers of all-reduced gradients (updates) are delayed: all, or only
// the readers of all-reduces that run in compute streams. The latter takes less
// memory: a gradient is freed once it is read.
enum class DelayedAllReduces : uint8_t { kAll, kInComputeStreams };

// True for a task that should run after all kernels of its device that do not
// need it. Such a task is one of the following, or depends on one. Each makes
// its device wait for another device. If such tasks run last, the device waits
// once, for the total delay. If they run earlier, it also waits for delays that
// the other device makes up later.
//   * An all-reduce of gradients in a compute stream: a collective that no
//     other collective needs, except one that gathers the new value of a
//     variable.
//   * With kAll, also an all-reduce in its own stream that an update needs. The
//     all-reduce itself runs early; its readers are delayed.
//   * An update of a variable by a value from another device, on which nothing
//     else in the step depends: running statistics, which only one replica
//     computes. Other kernels are not delayed, because their operands would
//     live longer.
IdVector<TaskId, bool> FindDelayed(const PlanDraft& draft,
                                   const Dependence& dependence,
                                   DelayedAllReduces which);

// True if a collective runs in its own stream, so that the two settings differ.
bool HasOverlappedCollectives(const PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_DELAYED_ALL_REDUCES_H_
