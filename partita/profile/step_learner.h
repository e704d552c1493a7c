// From traces of steps to a profile.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_STEP_LEARNER_H_
#define PARTITA_PARTITA_PROFILE_STEP_LEARNER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partita/profile/plan_kernels.h"
#include "placement/machine/profile.h"
#include "runtime/executor/session_report.h"
#include "runtime/plan/plan.h"

namespace partita {

class StepLearner {
 public:
  // For steps of the plan's entry `entry`. The plan must outlive it.
  static absl::StatusOr<StepLearner> For(const Plan& plan, int entry);

  // The trace of one step on the plan's own devices, by the plan's own kernels.
  void Add(absl::Span<const MeasuredCommand> trace);
  int steps() const { return steps_; }

  // Each kernel's median over the steps (in each, the mean of its commands), as
  // a profile of `host`. FailedPrecondition if there was no step.
  absl::StatusOr<Profile> Learned(const ProfileHost& host) const;

 private:
  StepLearner(const Plan& plan, CommandList commands, PlanKernels kernels)
      : plan_(plan),
        commands_(std::move(commands)),
        kernels_(std::move(kernels)) {}

  struct Seen {
    const PlanKernel* kernel = nullptr;
    std::vector<double> seconds;  // by step
  };

  const Plan& plan_;
  CommandList commands_;
  PlanKernels kernels_;
  std::map<std::string, Seen> seen_;  // by signature
  int steps_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_STEP_LEARNER_H_
