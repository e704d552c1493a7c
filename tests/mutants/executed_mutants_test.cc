// Runs mutants on the executor: no mutant that the checker proves does harm
// there, and most of those that it refuses do. Prints the table of
// docs/internals/mutants.md, rule by rule. PARTITA_MUTANTS_SEED chooses another
// sample, PARTITA_FULL=1 a large one.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/checker/testing/mutants/mutate.h"
#include "runtime/plan/checker/testing/oracle/oracle.h"
#include "runtime/plan/plan_text.h"
#include "tests/mutants/execution_judge.h"
#include "tests/mutants/steps_runner.h"

namespace partita {
namespace {

using Harm = Execution::Harm;

constexpr std::chrono::seconds kUntilItEnds(20);

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool IsFull() { return FromEnvironment("PARTITA_FULL", 0) == 1; }

// Every n-th command is delayed in a run of its own.
int HoldEvery() { return IsFull() ? 1 : 4; }

// Results for the mutants that a rule refused first.
struct Tally {
  int refused = 0;
  int by_harm[4] = {};  // on the executor
  int oracle_only = 0;  // harm on the oracle's machines only
  int undecided = 0;    // no harm in the runs that were tried
  int shown() const { return refused - by_harm[0]; }
  int harmless() const { return by_harm[0] - oracle_only - undecided; }
  void Add(const Tally& other) {
    refused += other.refused;
    for (int h = 0; h < 4; ++h) by_harm[h] += other.by_harm[h];
    oracle_only += other.oracle_only;
    undecided += other.undecided;
  }
};

class Sweep {
 public:
  void Run(const ShortPlan& base, int tries, int every, Random& random) {
    Plan plan = PlanOf(base);
    BindTestKernels(plan);
    const absl::StatusOr<ExecutionJudge> judge = ExecutionJudge::Of(plan);
    ASSERT_TRUE(judge.ok()) << base.name << ": " << judge.status();
    const SavedParts saved(plan);
    for (const Mutation& mutation : Mutations()) {
      std::set<std::string> seen;
      for (int i = 0; i < tries; ++i) {
        if (random() % every != 0) continue;
        const std::string done = mutation.apply(plan, random);
        if (!done.empty() && seen.insert(done).second) {
          JudgeOne(base, done, plan, *judge);
        }
        saved.Restore(plan);
      }
    }
  }

  int proved() const { return proved_; }
  const std::map<Rule, Tally>& rules() const { return rules_; }

 private:
  void JudgeOne(const ShortPlan& base, const std::string& done,
                const Plan& plan, const ExecutionJudge& judge) {
    const std::vector<Finding> findings = FindFaults(plan);
    const Execution execution =
        judge.Judge(plan, findings.empty(), HoldEvery());
    if (findings.empty()) {
      ++proved_;
      EXPECT_EQ(execution.harm, Harm::kNone)
          << base.name << ": " << done << "\n"
          << execution.what << "\n"
          << PrintPlan(plan);
      return;
    }
    Tally& tally = rules_[findings[0].rule];
    ++tally.refused;
    ++tally.by_harm[static_cast<int>(execution.harm)];
    if (execution.harm != Harm::kNone) return;
    const Verdict verdict = Judge(plan, 0, {.max_states = 3000});
    tally.oracle_only += verdict.harmful();
    tally.undecided += !verdict.harmful() && !verdict.exhaustive;
    if (!IsFull()) return;
    std::printf("not shown: %s: %s: %s; the oracle: %s\n",
                std::string(RuleName(findings[0].rule)).c_str(),
                std::string(base.name).c_str(), done.c_str(),
                verdict.harmful() ? verdict.harm.c_str() : "no harm");
  }

  int proved_ = 0;
  std::map<Rule, Tally> rules_;
};

void PrintRow(const std::string& name, const Tally& tally) {
  std::printf("| %s | %d | %d | %d | %d | %d | %d | %.0f %% |\n", name.c_str(),
              tally.refused, tally.by_harm[1], tally.by_harm[2],
              tally.by_harm[3], tally.oracle_only, tally.harmless(),
              100.0 * tally.shown() / std::max(1, tally.refused));
}

const char* KindOf(Rule rule) {
  if (rule <= Rule::kPersistent) return "form";
  if (rule <= Rule::kTogether) return "progress";
  return rule == Rule::kMemory ? "memory" : "races and values";
}

std::map<std::string, Tally> PrintTable(const std::map<Rule, Tally>& rules) {
  std::map<std::string, Tally> kinds;
  std::printf(
      "| refused for | mutants | not loaded | stuck | other bytes | only the "
      "oracle shows harm | neither | shown |\n|---|---|---|---|---|---|---|---|"
      "\n");
  for (const auto& [rule, tally] : rules) {
    PrintRow(std::string(RuleName(rule)), tally);
    kinds[KindOf(rule)].Add(tally);
  }
  for (const auto& [kind, tally] : kinds) PrintRow("all of " + kind, tally);
  return kinds;
}

TEST(ExecutedMutants, ProvedMutantsDoNoHarm) {
  const int seed = FromEnvironment("PARTITA_MUTANTS_SEED", 1);
  Random random(seed);
  Sweep sweep;
  const int tries = IsFull() ? 10 : 1;
  const int every = IsFull() ? 1 : 4;
  std::printf("seed %d\n", seed);
  constexpr int kProved = 20;
  for (int round = 0; round < 10 && sweep.proved() < kProved; ++round) {
    for (const ShortPlan& base : BasePlans()) {
      sweep.Run(base, tries, every, random);
    }
  }
  const std::map<std::string, Tally> kinds = PrintTable(sweep.rules());
  std::printf("%d proved mutants, none harmful\n", sweep.proved());
  EXPECT_GE(sweep.proved(), kProved);
  const auto shown = [&](const char* kind) {
    const Tally& tally = kinds.at(kind);
    return static_cast<double>(tally.shown()) / tally.refused;
  };
  EXPECT_GE(shown("races and values"), 0.8);
  EXPECT_GE(shown("form"), 0.5);
  EXPECT_GE(shown("progress"), 0.5);
}

// Compares with the graph's results for the inputs of each step, and for the
// variables that the previous step left.
void ExpectRight(const Plan& plan, const StepsRun& run,
                 absl::string_view name) {
  const Graph& graph = *plan.entries[0].graph;
  std::map<std::string, HostTensor> variables;
  for (const Variable& variable : plan.module.variables()) {
    variables[variable.name] =
        plan.module.literals().tensor(variable.initial).Clone();
  }
  for (size_t step = 0; step < run.outputs.size(); ++step) {
    std::vector<HostTensor> inputs;
    for (ValueId id : graph.inputs()) {
      const HostTensor& input = run.inputs[step].at(graph.value(id).name);
      inputs.push_back(HostTensor::ConstView(input.type(), input.bytes()));
    }
    VariableValues values;
    for (const auto& [variable, value] : variables) values[variable] = &value;
    absl::StatusOr<std::vector<HostTensor>> results =
        Evaluate(graph, inputs, values);
    ASSERT_TRUE(results.ok()) << name << ": " << results.status();
    const size_t outputs = graph.outputs().size();
    for (size_t i = 0; i < outputs; ++i) {
      EXPECT_EQ(run.outputs[step].at(graph.output_names()[i]).byte_span(),
                (*results)[i].byte_span())
          << name << ": output " << i << " of step " << step;
    }
    for (size_t i = 0; i < graph.updates().size(); ++i) {
      variables[graph.updates()[i].variable] =
          std::move((*results)[outputs + i]);
    }
  }
  for (const auto& [variable, replicas] : run.variables.back()) {
    EXPECT_EQ(replicas[0].byte_span(), variables[variable].byte_span())
        << name << ": variable " << variable;
  }
}

// If ports hold several of the graph's values, the plan runs in micro-batches.
bool RunsInMicroBatches(const Entry& entry) {
  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    if (entry.outputs[i].type != entry.graph->type(entry.graph->outputs()[i])) {
      return true;
    }
  }
  return !entry.graph->ops(kAccumulate).empty();
}

// In a plan whose steps overlap, the second device waits for the event of the
// first step only after the second step has recorded it, too.
TEST(ExecutedMutants, ALateWaitPassesAfterTheNextStepHasRecorded) {
  Plan plan = PlanOf(BasePlanNamed("two steps overlap"));
  BindTestKernels(plan);
  const auto runner = StepsRunner::Load(plan, plan.entries[0].inputs);
  ASSERT_TRUE(runner.ok()) << runner.status();
  const std::vector<Stream>& streams = plan.entries[0].streams;
  ASSERT_EQ(plan.devices[streams[1].device.index].traits.name, "gpu:1");
  const auto run = (*runner)->Run(
      4, {.hold = {Hold::What::kStream, 1}, .patience = kUntilItEnds});
  ASSERT_TRUE(run.ok()) << run.status();
  ExpectRight(plan, *run, "two steps overlap");
}

// The expected results are right, and the unchanged plans do no harm.
TEST(ExecutedMutants, BasePlansDoNoHarm) {
  for (const ShortPlan& base : BasePlans()) {
    Plan plan = PlanOf(base);
    BindTestKernels(plan);
    EXPECT_TRUE(FindFaults(plan).empty()) << base.name;
    const absl::StatusOr<ExecutionJudge> judge = ExecutionJudge::Of(plan);
    ASSERT_TRUE(judge.ok()) << base.name << ": " << judge.status();
    if (!RunsInMicroBatches(plan.entries[0])) {
      ExpectRight(plan, judge->expected(), base.name);
    }
    EXPECT_EQ(judge->Judge(plan, /*proved=*/true, HoldEvery()).what, "")
        << base.name;
  }
}

}  // namespace
}  // namespace partita
