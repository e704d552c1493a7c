// Runs mutants in every mode until one shows harm.
// SPDX-License-Identifier: Apache-2.0

#include "tests/mutants/execution_judge.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "tests/mutants/steps_runner.h"

namespace partita {
namespace {

// Steps of small plans take less than a millisecond, except on a busy host.
constexpr std::chrono::milliseconds kPatience(60);
constexpr std::chrono::milliseconds kLastPatience(20000);
constexpr int kChaosSeeds = 2;

std::vector<RunMode> ModesOf(const Entry& entry, int commands, int every) {
  using What = Hold::What;
  std::vector<RunMode> modes = {{.hold = {What::kLaunchOrder}}};
  for (int seed = 1; seed <= kChaosSeeds; ++seed) {
    modes.push_back({.chaos_seed = seed});
  }
  for (int s = 0; s < static_cast<int>(entry.streams.size()); ++s) {
    modes.push_back({.hold = {What::kStream, s}});
  }
  for (int c = every / 2; c < commands; c += every) {
    modes.push_back({.hold = {What::kCommand, c}});
  }
  return modes;
}

bool SameBits(const HostTensor& a, const HostTensor& b) {
  return a.type() == b.type() &&
         std::equal(a.byte_span().begin(), a.byte_span().end(),
                    b.byte_span().begin());
}

// The difference between the runs, or "". A missing replica is no difference as
// long as another replica is stored.
std::string Difference(const StepsRun& found, const StepsRun& expected) {
  for (size_t step = 0; step < expected.outputs.size(); ++step) {
    for (const auto& [name, tensor] : expected.outputs[step]) {
      const auto other = found.outputs[step].find(name);
      if (other == found.outputs[step].end() ||
          !SameBits(other->second, tensor)) {
        return absl::StrCat("output ", name, " of step ", step);
      }
    }
  }
  // From the last step backwards: if steps overlap, only the last was read.
  const size_t read =
      std::min(found.variables.size(), expected.variables.size());
  for (size_t back = 1; back <= read; ++back) {
    const auto& kept = found.variables[found.variables.size() - back];
    const auto& wanted = expected.variables[expected.variables.size() - back];
    for (const auto& [name, replicas] : wanted) {
      for (const HostTensor& replica : kept.at(name)) {
        if (!SameBits(replica, replicas[0])) {
          return absl::StrCat("variable ", name);
        }
      }
    }
  }
  return "";
}

Execution HarmOf(const absl::StatusOr<StepsRun>& run, const StepsRun& expected,
                 const StepsRunner& runner) {
  using Harm = Execution::Harm;
  if (absl::IsDeadlineExceeded(run.status())) {
    return {Harm::kStuck, std::string(run.status().message())};
  }
  if (!run.ok()) return {Harm::kWrong, std::string(run.status().message())};
  const std::string difference = Difference(*run, expected);
  if (!difference.empty()) return {Harm::kWrong, difference};
  if (runner.WroteBeyondArenas()) {
    return {Harm::kWrong, "bytes beyond an arena"};
  }
  return {};
}

}  // namespace

void BindTestKernels(Plan& plan) {
  Graph& graph = plan.module.main();
  for (const OpView& op : graph.ops()) {
    Node& node = graph.node(op.id());
    if (!node.kernel.has_value()) node.kernel = KernelBinding{"test.eval"};
  }
}

absl::StatusOr<ExecutionJudge> ExecutionJudge::Of(const Plan& plan) {
  ExecutionJudge judge;
  judge.inputs_ = plan.entries[0].inputs;
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<StepsRunner> runner,
                           StepsRunner::Load(plan, judge.inputs_));
  PARTITA_ASSIGN_OR_RETURN(judge.expected_,
                           runner->Run(kSteps, {.patience = kLastPatience}));
  return judge;
}

Execution ExecutionJudge::Judge(const Plan& mutant, bool proved,
                                int every) const {
  absl::StatusOr<std::unique_ptr<StepsRunner>> runner =
      StepsRunner::Load(mutant, inputs_);
  if (!runner.ok()) {
    return {Execution::Harm::kRefused, std::string(runner.status().message())};
  }
  for (RunMode mode :
       ModesOf(mutant.entries[0], (*runner)->num_commands(), every)) {
    mode.patience = proved ? kLastPatience : kPatience;
    const Execution execution =
        HarmOf((*runner)->Run(kSteps, mode), expected_, **runner);
    if (execution.harm != Execution::Harm::kNone) return execution;
  }
  return {};
}

}  // namespace partita
