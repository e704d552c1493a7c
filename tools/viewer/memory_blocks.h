// What fills the memory of a device at each moment of a step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_MEMORY_BLOCKS_H_
#define PARTITA_TOOLS_VIEWER_MEMORY_BLOCKS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "placement/simulate/simulate.h"
#include "tools/viewer/plan_view.h"
#include "tools/viewer/read_boxes.h"

namespace partita {

// By plan device: first the persistent values of the entry, in the order of
// their addresses, then step-local buffers by their starts. Views and in-place
// results share bytes with other blocks. Errors as LiveBuffers.
absl::StatusOr<std::vector<std::vector<BlockView>>> MemoryBlocks(
    const Plan& plan, int entry, const CommandList& commands,
    const Simulation& times, const BoxIndex& boxes);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_MEMORY_BLOCKS_H_
