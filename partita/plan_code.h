// Generated code for the nodes of a plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PLAN_CODE_H_
#define PARTITA_PARTITA_PLAN_CODE_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/kernel_catalog.h"
#include "runtime/plan/plan.h"

namespace partita {

// Adds what `catalog` generates for each target of the devices: the code of all
// nodes, and shards of sharded nodes, that devices with this target compute.
absl::Status BuildPlanCode(absl::Span<const DeviceTraits> devices,
                           const KernelCatalog& catalog, Plan& plan);

}  // namespace partita

#endif  // PARTITA_PARTITA_PLAN_CODE_H_
