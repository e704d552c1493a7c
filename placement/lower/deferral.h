// What had better wait until kernels have nothing else to do.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_DEFERRAL_H_
#define PARTITA_PLACEMENT_LOWER_DEFERRAL_H_

#include <cstdint>
#include <vector>

#include "placement/lower/dependencies.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Which sums of gradients' readers, updates, wait: those of all, or those of
// sums between kernels only. The bytes of a gradient are free once it is read.
enum class DeferredSums : uint8_t { kAll, kBetweenKernels };

// By task, whether it is, or waits for, one of these, in front of which a
// device waits for another. Behind all kernels that need none it waits once,
// for what delays add up to: an earlier one would also wait for what the other
// makes up for later.
// - A collective between the kernels of its device that no other collective
//   waits for, but one that brings a variable what it becomes: a sum of
//   gradients.
// - What reads such a sum that is joined beside kernels, early all the same, if
//   an update waits for it.
// - A variable's update by what another device has computed, for which nothing
//   in the step waits: running statistics, of which one replica has the
//   batch's. Of other kernels the operands would live for longer.
std::vector<bool> FindDeferred(const PlanDraft& draft,
                               const Dependence& dependence, DeferredSums sums);

// True if it matters of which sums the readers wait.
bool HasSumsBesideKernels(const PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_DEFERRAL_H_
