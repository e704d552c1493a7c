// Plans as the command line names them: binary files or text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_PLAN_INPUT_H_
#define PARTITA_TOOLS_PARTITA_PLAN_INPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_file.h"

namespace partita {

// A plan file or a plan as text, recognized by its bytes, whatever its name.
// All commands that take a plan use it. Refuses constants whose bytes differ
// from those that were compiled.
absl::StatusOr<Plan> ReadPlanInput(const std::string& path);

// True for a plan, by its bytes, or by a name NAME.plan if it is too damaged;
// false for other files and for built-in models.
absl::StatusOr<bool> IsPlan(const std::string& path);

// With reasons and comments, for people.
std::string PlanText(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_PLAN_INPUT_H_
