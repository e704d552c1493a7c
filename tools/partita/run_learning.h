// partita run --learn: adds what steps took to a profile.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_RUN_LEARNING_H_
#define PARTITA_TOOLS_PARTITA_RUN_LEARNING_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partita/options/arguments.h"
#include "partita/profile/step_learner.h"
#include "partita/session.h"
#include "placement/machine/machine.h"

namespace partita {

class RunLearning {
 public:
  // Null without --learn. FailedPrecondition, before any step is run, if the
  // plan does not state its machine, if other kernels than the plan's are
  // bound, or if the profile cannot be added to (KnownProfile). The session
  // must outlive it.
  static absl::StatusOr<std::unique_ptr<RunLearning>> For(
      const Session& session, const Arguments& arguments);

  // Of the session's last step, which was traced.
  void AddStep() { learner_.Add(session_.LastTrace()); }
  // Adds the kernels' medians to the file.
  absl::Status Write() const;

 private:
  RunLearning(const Session& session, Machine machine, StepLearner learner,
              std::string path)
      : session_(session),
        machine_(std::move(machine)),
        learner_(std::move(learner)),
        path_(std::move(path)) {}

  const Session& session_;
  const Machine machine_;
  StepLearner learner_;
  const std::string path_;
};

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_RUN_LEARNING_H_
