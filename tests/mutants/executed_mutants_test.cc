// Mutants on the executor: none that the checker proves does harm there, and
// of those that it refuses most do. Prints the table of docs/proof.md, rule by
// rule. PARTITA_MUTANTS_SEED chooses another sample, PARTITA_FULL=1 a large
// one.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/mutants/base_plans.h"
#include "runtime/plan/checker/mutants/mutate.h"
#include "runtime/plan/checker/oracle/oracle.h"
#include "runtime/plan/plan_text.h"
#include "tests/mutants/execution_judge.h"

namespace partita {
namespace {

using Harm = Execution::Harm;

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool IsFull() { return FromEnvironment("PARTITA_FULL", 0) == 1; }

// Every n-th command is held back in a run of its own.
int HeldShare() { return IsFull() ? 1 : 4; }

// What became of the mutants that a rule refused first.
struct Tally {
  int refused = 0;
  int by_harm[4] = {};  // on the executor
  int oracle_only = 0;  // no harm there, but on the oracle's machines
  int undecided = 0;    // nor there, in the runs that were looked at
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
  void Run(const ShortPlan& base, int tries, int share, Random& random) {
    Plan plan = PlanOf(base);
    BindTestKernels(plan);
    const absl::StatusOr<ExecutionJudge> judge = ExecutionJudge::Of(plan);
    ASSERT_TRUE(judge.ok()) << base.name << ": " << judge.status();
    const SavedParts saved(plan);
    for (const Mutation& mutation : Mutations()) {
      std::set<std::string> seen;
      for (int i = 0; i < tries; ++i) {
        if (random() % share != 0) continue;
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
        judge.Judge(plan, findings.empty(), HeldShare());
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

TEST(ExecutedMutants, NoneThatIsProvedDoesHarm) {
  const int seed = FromEnvironment("PARTITA_MUTANTS_SEED", 1);
  Random random(seed);
  Sweep sweep;
  const int tries = IsFull() ? 6 : 1;
  const int share = IsFull() ? 1 : 4;
  std::printf("seed %d\n", seed);
  for (const ShortPlan& base : BasePlans()) {
    sweep.Run(base, tries, share, random);
  }
  const std::map<std::string, Tally> kinds = PrintTable(sweep.rules());
  std::printf("%d proved mutants, none harmful\n", sweep.proved());
  EXPECT_GE(sweep.proved(), 20);
  const auto shown = [&](const char* kind) {
    const Tally& tally = kinds.at(kind);
    return static_cast<double>(tally.shown()) / tally.refused;
  };
  EXPECT_GE(shown("races and values"), 0.8);
  EXPECT_GE(shown("form"), 0.5);
  EXPECT_GE(shown("progress"), 0.5);
}

// What is held against mutants is right, and the judge finds no fault with it.
TEST(ExecutedMutants, BasePlansDoNoHarm) {
  for (const ShortPlan& base : BasePlans()) {
    Plan plan = PlanOf(base);
    BindTestKernels(plan);
    EXPECT_TRUE(FindFaults(plan).empty()) << base.name;
    const absl::StatusOr<ExecutionJudge> judge = ExecutionJudge::Of(plan);
    ASSERT_TRUE(judge.ok()) << base.name << ": " << judge.status();
    EXPECT_EQ(judge->Judge(plan, /*proved=*/true, HeldShare()).what, "")
        << base.name;
  }
}

}  // namespace
}  // namespace partita
