// Checks that everything a plan refers to exists.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_IDS_H_
#define PARTITA_RUNTIME_PLAN_PLAN_IDS_H_

#include "absl/status/status.h"
#include "runtime/plan/plan.h"

namespace partita {

// InvalidArgument if an id does not exist or a count is negative. Plan files
// must pass this, so that their readers may index without checks. The checker
// proves much more.
absl::Status CheckIds(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_IDS_H_
