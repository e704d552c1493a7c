// Where a plan's bytes lie: arenas, absolute ranges, and what a command
// touches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_LAYOUT_H_
#define PARTITA_RUNTIME_PLAN_PLAN_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// Steps of one host that may overlap, the most of all entries.
int PlanDepth(const Plan& plan);

// Bytes of a device's arena: the persistent part and `depth` copies of the
// step-local one. The largest int64 if that overflows.
int64_t ArenaBytes(const PlanDevice& device, int depth);

// Where the part of the arena begins that a buffer's range is relative to: 0
// for a persistent one, else the copy that `step` uses.
int64_t PartOffset(const PlanDevice& device, bool persistent, int64_t step,
                   int depth);

// A buffer's bytes in the arena of its device, in step `step`. The device must
// exist and the arena must not overflow.
Range AbsoluteRange(const Plan& plan, const Entry& entry, const Buffer& buffer,
                    int64_t step);

// One range that a command touches.
struct Access {
  enum class Kind : uint8_t {
    kRead,
    kWrite,      // defined afterwards
    kUndefined,  // written, and undefined afterwards: workspace
  };
  Kind kind = Kind::kRead;
  BufferId buffer;
  DeviceId device;
  Range range;  // relative to the buffer's part of the arena
};

// Operands, then results, then workspace, of an expanded command; ids must
// exist. Slots of channels are not listed: they belong to messages.
std::vector<Access> Accesses(const Entry& entry, const Command& command);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_LAYOUT_H_
