// Runs mutants on the executor and detects harm: virtual devices, real threads,
// adverse delays.
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
    kRefused,  // the executor refuses to load it
    kStuck,    // a step does not end
    kWrong,    // an output or a variable has other bytes
  };
  Harm harm = Harm::kNone;
  std::string what;
};

// Binds every node of the plan's first entry to its op's eval.
void BindTestKernels(Plan& plan);

// The results of a few steps.
struct StepsRun {
  std::vector<std::map<std::string, HostTensor>> inputs;   // by step
  std::vector<std::map<std::string, HostTensor>> outputs;  // by step
  // After each step, or only after the last if steps overlap: each replica.
  std::vector<std::map<std::string, std::vector<HostTensor>>> variables;
};

class ExecutionJudge {
 public:
  static constexpr int kSteps = 3;

  // Runs the unchanged plan, which must outlive the judge, to get the expected
  // results. Every node of it needs a kernel.
  static absl::StatusOr<ExecutionJudge> Of(const Plan& plan);

  // Runs a mutant of the plan; each step has other inputs, and all free bytes
  // are junk. The runs are: in launch order, freely under random delays, with
  // each stream delayed, and with one in `every` commands delayed. The results
  // of a command are junk from its start to its end. For `proved` mutants the
  // runs wait longer before they report a stuck step.
  Execution Judge(const Plan& mutant, bool proved, int every = 1) const;

  const StepsRun& expected() const { return expected_; }

 private:
  ExecutionJudge() = default;

  std::vector<Port> inputs_;
  StepsRun expected_;
};

}  // namespace partita

#endif  // PARTITA_TESTS_MUTANTS_EXECUTION_JUDGE_H_
