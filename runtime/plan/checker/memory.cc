// Memory: the arenas of each device fit into its memory.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace partita {

void CheckMemory(const Plan& plan, Findings& findings) {
  int64_t depth = 1;
  for (const Entry& entry : plan.entries) {
    depth = std::max<int64_t>(depth, entry.depth);
  }
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    const PlanDevice& device = plan.devices[d];
    const int64_t peak = device.persistent_bytes + depth * device.step_bytes;
    if (peak <= device.memory) continue;
    Finding finding;
    finding.rule = Rule::kMemory;
    finding.device = DeviceId(static_cast<int32_t>(d));
    finding.bytes = {device.memory, peak};
    finding.message = absl::StrCat(
        "plan @", plan.name, ": found ", peak, " bytes needed on ",
        device.traits.name, " (", device.persistent_bytes, " persistent and ",
        depth, " x ", device.step_bytes, " for steps); expected at most ",
        device.memory, "; place some of it elsewhere or lower the batch");
    findings.Add(std::move(finding));
  }
}

}  // namespace partita
