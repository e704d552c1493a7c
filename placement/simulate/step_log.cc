// Measures the time between steps, and follows causes.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/step_log.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

// The time between steps is measured after the pipeline has filled and before
// it drains. Lengths of both phases, in units of the depth.
constexpr int kFillingDepths = 3;
constexpr int kDrainingDepths = 1;

int StepsFor(int depth) {
  return depth == 1 ? 1 : (kFillingDepths + kDrainingDepths) * depth;
}

// From the last command to end, back along causes.
std::vector<CommandId> CriticalPath(
    const IdVector<CommandId, SimulatedCommand>& commands) {
  CommandId last;
  for (CommandId c : commands.ids()) {
    if (!last.valid() || commands[c].end > commands[last].end) last = c;
  }
  std::vector<CommandId> path;
  for (CommandId c = last; c.valid() && path.size() <= commands.size();
       c = commands[c].cause) {
    path.push_back(c);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

StepLog::StepLog(int depth, size_t commands)
    : depth_(depth),
      first_step_(commands),
      left_(StepsFor(depth), static_cast<int>(commands)),
      ends_(left_.size(), 0) {}

bool StepLog::have_all_ended() const {
  return absl::c_all_of(left_, [](int left) { return left == 0; });
}

void StepLog::Start(int step, CommandId command, double at, CommandId cause) {
  if (step > 0) return;
  first_step_[command].start = at;
  first_step_[command].cause = cause;
}

bool StepLog::End(int step, CommandId command, double at) {
  if (step == 0) first_step_[command].end = at;
  ends_[step] = std::max(ends_[step], at);
  return --left_[step] == 0;
}

Simulation StepLog::Take() && {
  Simulation result;
  result.commands = std::move(first_step_);
  result.latency_seconds = ends_[0];
  result.step_seconds = ends_[0];
  if (depth_ > 1) {
    const int last = kFillingDepths * depth_ - 1;
    result.step_seconds = (ends_[last] - ends_[last - depth_]) / depth_;
  }
  result.critical_path = CriticalPath(result.commands);
  return result;
}

}  // namespace partita
