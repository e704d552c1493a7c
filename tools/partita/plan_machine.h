// The machine for which a command predicts a plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_PLAN_MACHINE_H_
#define PARTITA_TOOLS_PARTITA_PLAN_MACHINE_H_

#include <string>

#include "absl/status/statusor.h"
#include "partita/options/arguments.h"
#include "partita/plan_prices.h"
#include "runtime/plan/plan.h"

namespace partita {

// That of --machine, else the plan's own. CalledWrongly if there is neither;
// `path` is the plan's, for errors. FailedPrecondition if the machine lacks a
// device of the plan.
absl::StatusOr<PlanMachine> ReadPlanMachine(const Plan& plan,
                                            const std::string& path,
                                            const Arguments& arguments);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_PLAN_MACHINE_H_
