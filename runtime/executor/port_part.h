// Which bytes of a port one feed or fetch moves.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_PORT_PART_H_
#define PARTITA_RUNTIME_EXECUTOR_PORT_PART_H_

#include "runtime/device/blocks.h"
#include "runtime/plan/plan.h"

namespace partita {

// `blocks` without a base, which is the caller's and changes from step to step:
// they begin `offset` bytes behind it.
struct PortPart {
  int64_t offset = 0;
  Blocks blocks;
};

// A port has the bytes of the graph's value, or those of all micro-batches one
// after the other. A feed or fetch moves what its stream's device holds of its
// micro-batch's value.
PortPart PartOfPort(const Plan& plan, const Entry& entry,
                    const Command& command);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_PORT_PART_H_
