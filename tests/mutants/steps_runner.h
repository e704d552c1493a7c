// A session of a mutant whose steps start with junk.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_MUTANTS_STEPS_RUNNER_H_
#define PARTITA_TESTS_MUTANTS_STEPS_RUNNER_H_

#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/test_kernels.h"
#include "tests/mutants/execution_judge.h"
#include "tests/mutants/hold.h"
#include "tests/mutants/margin_device.h"

namespace partita {

// The mode of a run of some steps.
struct RunMode {
  Hold hold;
  std::optional<uint64_t> chaos_seed;
  std::chrono::milliseconds patience{
      100};  // with a step, or a hold that does not move
};

class StepsRunner {
 public:
  // `inputs` are the ports that the caller knows by name. An error if the
  // executor does not load the plan.
  static absl::StatusOr<std::unique_ptr<StepsRunner>> Load(
      const Plan& plan, std::vector<Port> inputs);

  // Runs `steps` steps from the variables' initial values. DeadlineExceeded if
  // a step does not end.
  absl::StatusOr<StepsRun> Run(int steps, const RunMode& mode);
  // True if a byte outside some arena has changed.
  bool WroteBeyondArenas() const;
  int num_commands() const { return static_cast<int>(commands_.size()); }

 private:
  StepsRunner(const Plan& plan, std::vector<Port> inputs, CommandList commands);
  // The caller's bytes of one step, by port.
  struct Ports {
    std::vector<HostTensor> inputs;
    std::vector<HostTensor> outputs;
  };
  absl::Status FindInputs();
  Ports NewPorts(int step);
  absl::Status Submit(const Ports& ports, const RunMode& mode);
  absl::Status ReadVariables(StepsRun& run);
  void MakeStepBytesJunk();
  void MakeResultsJunk(uint64_t step, CommandId command);
  std::vector<std::byte*> BytesOf(BufferId id, uint64_t step) const;
  std::set<std::byte*> BytesInPlace(const Command& command,
                                    uint64_t step) const;

  const Plan& plan_;
  const Entry& entry_;
  const std::vector<Port> inputs_;
  const CommandList commands_;
  std::vector<int> input_of_port_;  // index into inputs_
  std::vector<MarginDevice*> devices_;
  TestLibrary library_;
  HoldingObserver observer_;
  std::mt19937 random_;
  uint32_t runs_ = 0;
  uint64_t next_step_ = 0;              // as the executor counts
  std::unique_ptr<Executor> executor_;  // last: its threads use the rest
};

}  // namespace partita

#endif  // PARTITA_TESTS_MUTANTS_STEPS_RUNNER_H_
