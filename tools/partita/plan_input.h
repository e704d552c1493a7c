// Plans as the command line names them: binary files or text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_PLAN_INPUT_H_
#define PARTITA_TOOLS_PARTITA_PLAN_INPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"

namespace partita {

// By the first bytes of the file, whatever it is called.
absl::StatusOr<Plan> ReadPlanInput(const std::string& path);

// Whether a file is called NAME.plan or begins as a plan file does; false for
// the name of something that is no file.
absl::StatusOr<bool> IsPlanFile(const std::string& path);

// With reasons and comments, as a person reads it.
std::string PlanText(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_PLAN_INPUT_H_
