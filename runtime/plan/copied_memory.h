// Between which memories the streams of a plan copy.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_COPIED_MEMORY_H_
#define PARTITA_RUNTIME_PLAN_COPIED_MEMORY_H_

#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// The devices whose memory the stream of a copy, send or recv copies to and
// from, in this order; some more than once. Empty for other commands. The
// command's ids, and those of its channel, are in the entry.
std::vector<DeviceId> CopiedMemory(const Entry& entry, const Command& command);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_COPIED_MEMORY_H_
