// Plans as the command line names them: binary files or text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_PLAN_INPUT_H_
#define PARTITA_TOOLS_PARTITA_PLAN_INPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_file.h"

namespace partita {

// A plan file or a plan as text, by the first bytes, whatever it is called.
// What every command that takes a plan reads it with; bytes of constants that
// are not those that the plan was compiled with are refused.
absl::StatusOr<Plan> ReadPlanInput(const std::string& path);

// Whether a file is called NAME.plan, begins as a plan file does, or is a text
// with a line `plan @NAME`; false for models, by their names, and for the name
// of something that is no file.
absl::StatusOr<bool> IsPlan(const std::string& path);

// With reasons and comments, as a person reads it.
std::string PlanText(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_PLAN_INPUT_H_
