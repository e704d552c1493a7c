// Generated code for the nodes of a plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PLAN_CODE_H_
#define PARTITA_PARTITA_PLAN_CODE_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/kernel_catalog.h"
#include "runtime/plan/plan.h"

namespace partita {

// Adds one code object for each instruction set of the CPUs among `devices`,
// with the code of all nodes, and shards of sharded nodes, that those compute.
absl::Status BuildPlanCode(absl::Span<const DeviceTraits> devices, Plan& plan);

}  // namespace partita

#endif  // PARTITA_PARTITA_PLAN_CODE_H_
