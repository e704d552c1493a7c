// Judges a mutant by what it does on the executor: virtual devices, real
// threads, adverse delays.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_MUTANTS_EXECUTION_JUDGE_H_
#define PARTITA_TESTS_MUTANTS_EXECUTION_JUDGE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/host_tensor.h"
#include "runtime/plan/plan.h"

namespace partita {

// How a plan went wrong, if it did.
struct Execution {
  enum class Harm : uint8_t {
    kNone,
    kRefused,  // the executor does not load it
    kStuck,    // a step does not end
    kWrong,    // an output or a variable has other bytes
  };
  Harm harm = Harm::kNone;
  std::string what;
};

// Lets every node of the plan's first entry be computed: by its op's eval.
void BindTestKernels(Plan& plan);

// What a few steps left behind.
struct StepsRun {
  std::vector<std::map<std::string, HostTensor>> inputs;   // by step
  std::vector<std::map<std::string, HostTensor>> outputs;  // by step
  // After each step, or after the last where steps overlap: each replica.
  std::vector<std::map<std::string, std::vector<HostTensor>>> variables;
};

class ExecutionJudge {
 public:
  static constexpr int kSteps = 3;

  // Runs the unchanged plan, which stays alive, for what mutants are held
  // against. Every node of it has a kernel.
  static absl::StatusOr<ExecutionJudge> Of(const Plan& plan);

  // Runs a mutant of the plan, every step with other inputs, all free bytes
  // made junk: in launch order, freely under random delays, with each stream
  // and each command held back. What a command will write is junk from its
  // start. Of the commands every `share`-th is held. `proved` mutants are run
  // to the end before they are said to be stuck.
  Execution Judge(const Plan& mutant, bool proved, int share = 1) const;

  const StepsRun& expected() const { return expected_; }

 private:
  ExecutionJudge() = default;

  std::vector<Port> inputs_;
  StepsRun expected_;
};

}  // namespace partita

#endif  // PARTITA_TESTS_MUTANTS_EXECUTION_JUDGE_H_
