// The checker against thousands of mutants: every harmful one is refused, and
// few harmless ones are. PARTITA_MUTANTS_SEED and PARTITA_MUTANTS_COUNT (per
// plan and kind) choose another sample.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/mutants/base_plans.h"
#include "runtime/plan/checker/mutants/mutate.h"
#include "runtime/plan/checker/oracle/oracle.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool IsForm(Rule rule) { return rule <= Rule::kPersistent; }

struct Tally {
  int mutants = 0;
  int harmful = 0;
  int refused_harmless = 0;
  int judged_wholly = 0;
};

class Sweep {
 public:
  void Run(const ShortPlan& base, const Mutation& mutation, int count,
           Random& random) {
    Plan plan = PlanOf(base);
    const SavedParts saved(plan);
    std::set<std::string> seen;
    for (int i = 0; i < count; ++i) {
      const std::string done = mutation.apply(plan, random);
      if (!done.empty() && seen.insert(done).second) {
        Judge1(base, mutation, done, plan);
      }
      saved.Restore(plan);
    }
  }

  const std::map<std::string, Tally>& kinds() const { return kinds_; }
  const std::map<Rule, int>& refusals() const { return refusals_; }

 private:
  void Judge1(const ShortPlan& base, const Mutation& mutation,
              const std::string& done, const Plan& plan) {
    const std::vector<Finding> findings = FindFaults(plan);
    const Verdict verdict =
        Judge(plan, 0, {.max_states = 3000, .random_runs = 20});
    Tally& tally = kinds_[mutation.name];
    ++tally.mutants;
    if (verdict.exhaustive) ++tally.judged_wholly;
    const bool form_only =
        !findings.empty() && IsForm(findings[0].rule) && !verdict.runnable;
    if (verdict.harmful() && !form_only) ++tally.harmful;
    EXPECT_FALSE(verdict.harmful() && findings.empty())
        << base.name << ": " << done << "\n"
        << verdict.harm << "\n"
        << PrintPlan(plan);
    if (verdict.harmful() || !verdict.exhaustive || findings.empty()) return;
    ++tally.refused_harmless;
    for (const Finding& finding : findings) ++refusals_[finding.rule];
    if (std::getenv("PARTITA_MUTANTS_SHOW") != nullptr &&
        !IsForm(findings[0].rule)) {
      std::printf("refused, harmless: %s: %s\n  %s\n", base.name, done.c_str(),
                  findings[0].message.c_str());
    }
  }

  std::map<std::string, Tally> kinds_;
  std::map<Rule, int> refusals_;
};

TEST(Mutants, EveryHarmfulOneIsRefused) {
  const int seed = FromEnvironment("PARTITA_MUTANTS_SEED", 1);
  const int count = FromEnvironment("PARTITA_MUTANTS_COUNT", 12);
  std::printf("seed %d, %d tries for each plan and kind\n", seed, count);
  Random random(seed);
  Sweep sweep;
  for (const ShortPlan& base : BasePlans()) {
    for (const Mutation& mutation : Mutations()) {
      sweep.Run(base, mutation, count, random);
    }
  }
  int mutants = 0;
  int harmful = 0;
  int wholly = 0;
  for (const auto& [name, tally] : sweep.kinds()) {
    std::printf("%-22s %5d mutants %5d harmful %5d refused though harmless\n",
                name.c_str(), tally.mutants, tally.harmful,
                tally.refused_harmless);
    mutants += tally.mutants;
    harmful += tally.harmful;
    wholly += tally.judged_wholly + tally.harmful;
  }
  std::printf("%d mutants, %d harmful, %d decided\n", mutants, harmful, wholly);
  for (const auto& [rule, times] : sweep.refusals()) {
    std::printf("harmless but refused by %s: %d\n",
                std::string(RuleName(rule)).c_str(), times);
  }
}

}  // namespace
}  // namespace partita
