// Arithmetic of arenas and ranges.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_layout.h"

#include <algorithm>
#include <limits>

namespace partita {

int PlanDepth(const Plan& plan) {
  int depth = 1;
  for (const Entry& entry : plan.entries) depth = std::max(depth, entry.depth);
  return depth;
}

int64_t ArenaBytes(const PlanDevice& device, int depth) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(device.step_bytes, int64_t{depth}, &bytes) ||
      __builtin_add_overflow(bytes, device.persistent_bytes, &bytes)) {
    return std::numeric_limits<int64_t>::max();
  }
  return bytes;
}

int64_t PartOffset(const PlanDevice& device, bool persistent, int64_t step,
                   int depth) {
  if (persistent) return 0;
  return device.persistent_bytes + (step % depth) * device.step_bytes;
}

Range AbsoluteRange(const Plan& plan, const Entry& entry, const Buffer& buffer,
                    int64_t step) {
  Range range = buffer.range;
  range.offset += PartOffset(plan.devices[buffer.device.index],
                             buffer.persistent, step, entry.depth);
  return range;
}

std::vector<Access> Accesses(const Entry& entry, const Command& command) {
  std::vector<Access> accesses;
  auto add = [&](Access::Kind kind, BufferId id) {
    const Buffer& buffer = entry.buffers[id.index];
    accesses.push_back({kind, id, buffer.device, buffer.range});
  };
  for (BufferId id : command.operands) add(Access::Kind::kRead, id);
  for (BufferId id : command.results) add(Access::Kind::kWrite, id);
  if (command.workspace.valid()) {
    add(Access::Kind::kUndefined, command.workspace);
  }
  return accesses;
}

}  // namespace partita
