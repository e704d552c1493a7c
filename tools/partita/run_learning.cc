// Refuses steps that are not those of the plan, and passes traces on.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/run_learning.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "partita/profile/profile_file.h"
#include "partita/profile/this_host.h"

namespace partita {

absl::StatusOr<std::unique_ptr<RunLearning>> RunLearning::For(
    const Session& session, const Arguments& arguments) {
  if (!arguments.has("learn")) return nullptr;
  const Plan& plan = session.plan();
  if (!plan.notes.has_value() || plan.notes->machine_json.empty()) {
    return absl::FailedPreconditionError(
        "--learn: found no machine in the plan, and plans as text have none; "
        "expected a plan file with its notes; compile the model into one");
  }
  const std::vector<ReplacedKernel> replaced = session.ReplacedKernels();
  if (!replaced.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--learn: found ", replaced[0].bound, " (",
        replaced[0].bound_arithmetic, ") bound for ", replaced[0].planned, " (",
        replaced[0].planned_arithmetic,
        "); expected the plan's own kernels; compile the plan again here"));
  }
  PARTITA_ASSIGN_OR_RETURN(
      Machine machine,
      ParseMachine(plan.notes->machine_json, "the plan's notes"));
  std::string path = arguments.Get("learn", "");
  PARTITA_RETURN_IF_ERROR(
      KnownProfile(machine, ThisProfileHost(), path).status());
  PARTITA_ASSIGN_OR_RETURN(StepLearner learner,
                           StepLearner::For(plan, session.entry()));
  return std::unique_ptr<RunLearning>(new RunLearning(
      session, std::move(machine), std::move(learner), std::move(path)));
}

absl::Status RunLearning::Write() const {
  PARTITA_ASSIGN_OR_RETURN(const Profile learned,
                           learner_.Learned(ThisProfileHost()));
  return AddToProfileFile(learned, machine_, path_);
}

}  // namespace partita
