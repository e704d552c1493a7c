// Whether everything that a plan refers to exists.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_IDS_H_
#define PARTITA_RUNTIME_PLAN_PLAN_IDS_H_

#include "absl/status/status.h"
#include "runtime/plan/plan.h"

namespace partita {

// InvalidArgument if an id is that of nothing, or a count is negative: what a
// plan file must not hold, so that readers may index without asking. Much less
// than the checker proves.
absl::Status CheckIds(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_IDS_H_
