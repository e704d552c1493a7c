// Sorts the commands of traces by their kernels.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/step_learner.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/device_traits.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Clocks tick in nanoseconds: a command that seems to take none took less.
constexpr double kLeastSeconds = 1e-9;

double Median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Without names, each once.
std::vector<DeviceTraits> DevicesOf(const Plan& plan) {
  std::vector<DeviceTraits> devices;
  for (const PlanDevice& device : plan.devices) {
    DeviceTraits traits = device.traits;
    traits.name.clear();
    if (!absl::c_linear_search(devices, traits)) devices.push_back(traits);
  }
  return devices;
}

}  // namespace

absl::StatusOr<StepLearner> StepLearner::For(const Plan& plan, int entry) {
  PARTITA_ASSIGN_OR_RETURN(CommandList commands, Expand(plan.entries[entry]));
  PARTITA_ASSIGN_OR_RETURN(PlanKernels kernels,
                           PlanKernels::Of(plan, plan.entries[entry]));
  return StepLearner(plan, std::move(commands), std::move(kernels));
}

void StepLearner::Add(absl::Span<const MeasuredCommand> trace) {
  struct Sum {
    const PlanKernel* kernel = nullptr;
    double seconds = 0;
    int commands = 0;
  };
  std::map<std::string, Sum> step;
  for (const MeasuredCommand& measured : trace) {
    const Command& command = commands_[CommandId(measured.command)];
    if (command.kind != Command::Kind::kKernel) continue;
    const PlanKernel* kernel = kernels_.Find(command.instance);
    if (kernel == nullptr) continue;
    Sum& sum = step[kernel->node.signature];
    sum.kernel = kernel;
    sum.seconds += measured.end_seconds - measured.start_seconds;
    ++sum.commands;
  }
  for (const auto& [signature, sum] : step) {
    Seen& seen = seen_[signature];
    seen.kernel = sum.kernel;
    seen.seconds.push_back(std::max(kLeastSeconds, sum.seconds / sum.commands));
  }
  ++steps_;
}

absl::StatusOr<Profile> StepLearner::Learned(const ProfileHost& host) const {
  if (steps_ == 0) {
    return absl::FailedPreconditionError(
        "found no step to learn from; expected at least one traced step");
  }
  Profile profile = {.host = host, .devices = DevicesOf(plan_)};
  for (const auto& [signature, seen] : seen_) {
    MeasuredNode& node = profile.nodes.emplace_back(seen.kernel->node);
    node.in_steps =
        SecondsInSteps{.seconds = Median(seen.seconds),
                       .steps = static_cast<int64_t>(seen.seconds.size())};
  }
  return profile;
}

}  // namespace partita
