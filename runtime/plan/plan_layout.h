// Computes a plan's bytes: arenas, absolute ranges, and the accesses of a
// command.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_LAYOUT_H_
#define PARTITA_RUNTIME_PLAN_PLAN_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// The most steps that may overlap on one host, over all entries.
int PlanDepth(const Plan& plan);

// Bytes of a device's arena: the persistent part and `depth` copies of the
// step-local part. The largest int64 if that overflows.
int64_t ArenaBytes(const PlanDevice& device, int depth);

// The offset of a part in the arena: 0 for the persistent part, else that of
// the copy that `step` uses.
int64_t PartOffset(const PlanDevice& device, bool persistent, int64_t step,
                   int depth);

// The bytes of a buffer in its device's arena in step `step`. Needs: a device
// that exists, and an arena that does not overflow.
Range AbsoluteRange(const Plan& plan, const Entry& entry, const Buffer& buffer,
                    int64_t step);

// One range that a command accesses.
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

// The operands, then results, then workspace of an expanded command. Needs: ids
// that exist. Omits slots of channels, which belong to messages.
std::vector<Access> Accesses(const Entry& entry, const Command& command);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_LAYOUT_H_
