// Checks thousands of mutants: the checker refuses every harmful one, and few
// harmless ones. PARTITA_MUTANTS_SEED and PARTITA_MUTANTS_COUNT (per plan and
// kind) choose another sample.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/checker/testing/mutants/mutate.h"
#include "runtime/plan/checker/testing/oracle/oracle.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool IsForm(Rule rule) { return rule <= Rule::kPersistent; }

// The finding is about bytes that one command only writes, twice.
bool WritesItsOwnResult(const Plan& plan, const Finding& finding) {
  const Entry& entry = plan.entries[finding.entry];
  const Command command = (*Expand(entry))[finding.command];
  return std::none_of(command.operands.begin(), command.operands.end(),
                      [&](BufferId id) {
                        const Buffer& operand = entry.buffers[id.index];
                        bool read = false;
                        ForEachBlock(operand.range, 0, [&](ByteSpan bytes) {
                          read |= bytes.begin < finding.bytes.end &&
                                  bytes.end > finding.bytes.begin;
                        });
                        return read && operand.device == finding.device;
                      });
}

const char* ReasonToRefusePersistent(const Finding& finding) {
  constexpr std::pair<const char*, const char*> kReasons[] = {
      {"overlap and hold different",
       "a shard of a variable overlaps the whole variable"},
      {"expected one block", "a variable or constant has several blocks"},
      {"where the graph places it",
       "a variable or constant is on another device than its node"},
  };
  for (const auto& [text, reason] : kReasons) {
    if (absl::StrContains(finding.message, text)) return reason;
  }
  return nullptr;
}

bool HasAnEmptyUpdate(const Entry& entry) {
  const std::vector<VariableUpdate>& updates = entry.graph->updates();
  return std::any_of(updates.begin(), updates.end(),
                     [&](const VariableUpdate& update) {
                       return entry.graph->type(update.value).num_bytes() == 0;
                     });
}

// Why the checker may refuse a plan that no run can harm.
const char* ReasonToRefuse(const Plan& plan, const Finding& finding) {
  switch (finding.rule) {
    case Rule::kRecordedOnce:
      return "an event is recorded twice: a wait could pass at the first";
    case Rule::kWrongValue:
      return "a command states another value than it works on";
    case Rule::kMessagePairs:
    case Rule::kGroupOrder:
      return "partners state different values";
    case Rule::kSize:
    case Rule::kRange:
      return "a range has not the size of its value, or is misaligned";
    case Rule::kSlots:
      return "a message slot overlaps another buffer";
    case Rule::kNames:
      return "a port has another name than its value";
    case Rule::kDevice:
      return "a command is on another device than its node";
    case Rule::kWriteAfterWrite:
      return "two unordered writes, and nobody reads them";
    case Rule::kPersistent:
      return ReasonToRefusePersistent(finding);
    case Rule::kNextStep:
      return HasAnEmptyUpdate(plan.entries[finding.entry])
                 ? "a variable of zero bytes is not persistent"
                 : nullptr;
    case Rule::kInsideCommand:
      return WritesItsOwnResult(plan, finding)
                 ? "two results of a command overlap, unread"
                 : nullptr;
    default:
      return nullptr;
  }
}

// The least number of harmful mutants of kinds that apply to few plans.
const std::map<std::string, int>& RareKinds() {
  static const auto* const kinds = new std::map<std::string, int>{
      {"lower capacity", 2},    {"reorder rank", 2},   {"swap invocations", 1},
      {"let steps overlap", 1}, {"change batch", 2},   {"rename port", 2},
      {"skip reorder", 5},      {"change layout", 20}, {"forget padding", 2},
      {"respell range", 0},  // the same plan, written differently
  };
  return *kinds;
}

// The least number of harmful mutants of a kind, in a sample of the usual size.
int FloorOf(const std::string& kind) {
  auto it = RareKinds().find(kind);
  return it == RareKinds().end() ? 5 : it->second;
}

// Rare kinds have few mutants, most of them harmless. More tries find every
// mutant, so that each seed finds the harmful ones.
int TriesOf(const std::string& kind, int count) {
  return RareKinds().contains(kind) ? 20 * count : count;
}

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
  const std::map<std::string, int>& refusals() const { return refusals_; }

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
    const char* reason = ReasonToRefuse(plan, findings[0]);
    EXPECT_NE(reason, nullptr)
        << base.name << ": " << done << "\nno run goes wrong, but\n"
        << findings[0].message << "\n"
        << PrintPlan(plan);
    if (reason != nullptr) ++refusals_[reason];
  }

  std::map<std::string, Tally> kinds_;
  std::map<std::string, int> refusals_;
};

TEST(Mutants, EveryHarmfulOneIsRefused) {
  const int seed = FromEnvironment("PARTITA_MUTANTS_SEED", 1);
  const int count = FromEnvironment("PARTITA_MUTANTS_COUNT", 20);
  std::printf("seed %d, %d tries for each plan and kind, more for rare kinds\n",
              seed, count);
  Random random(seed);
  Sweep sweep;
  for (const ShortPlan& base : BasePlans()) {
    for (const Mutation& mutation : Mutations()) {
      sweep.Run(base, mutation, TriesOf(mutation.name, count), random);
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
  for (const auto& [reason, times] : sweep.refusals()) {
    std::printf("%d harmless ones refused: %s\n", times, reason.c_str());
  }
  EXPECT_GE(mutants, 2000);
  EXPECT_GE(2 * wholly, mutants);  // searched exhaustively, or harm found
  for (const Mutation& mutation : Mutations()) {
    const auto tally = sweep.kinds().find(mutation.name);
    ASSERT_NE(tally, sweep.kinds().end()) << mutation.name;
    EXPECT_GE(tally->second.harmful, FloorOf(mutation.name)) << mutation.name;
  }
}

// Two changes may hide each other.
TEST(Mutants, NorDoesAHarmfulPairPass) {
  const int seed = FromEnvironment("PARTITA_MUTANTS_SEED", 1);
  const int count = 2 * FromEnvironment("PARTITA_MUTANTS_COUNT", 20);
  Random random(seed);
  int refused = 0;
  for (const ShortPlan& base : BasePlans()) {
    Plan plan = PlanOf(base);
    const SavedParts saved(plan);
    for (int i = 0; i < count; ++i) {
      std::string done;
      for (int k = 0; k < 2; ++k) {
        done += Mutations()[random() % Mutations().size()].apply(plan, random);
        done += "; ";
      }
      if (FindFaults(plan).empty()) {
        const Verdict verdict =
            Judge(plan, 0, {.max_states = 3000, .random_runs = 20});
        EXPECT_EQ(verdict.harm, "") << base.name << ": " << done << "\n"
                                    << PrintPlan(plan);
      } else {
        ++refused;
      }
      saved.Restore(plan);
    }
  }
  EXPECT_GE(refused, count);
}

}  // namespace
}  // namespace partita
