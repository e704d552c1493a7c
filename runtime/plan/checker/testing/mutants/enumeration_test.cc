// All plans of a few commands over tiny alphabets: the checker accepts exactly
// the plans that no machine can harm. PARTITA_ENUMERATION_SHARE=1 tries all
// plans, n every n-th.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/checker/testing/oracle/oracle.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

using Kind = Command::Kind;

// The commands of the short plan are the letters. If `any_stream`, a command
// without a channel or group may be on any stream.
struct Alphabet {
  ShortPlan letters;
  bool any_stream;
  int longest;
};

const Alphabet kEvents = {{"one value, one event",
                           R"(graph @f(%x: i8[1]) -> i8[1] {
  return %x as y
})",
                           "gpu:0 0 1",
                           R"(input x i8[1]
        output y i8[1]
        arena gpu:0
          !p 0 1)",
                           R"(gpu:0/a feed -> !p input 0
        gpu:0/b fetch !p output 0
        gpu:0/c record ev0
        gpu:0/a wait ev0
        gpu:0/a record ev1
        gpu:0/a wait ev1)"},
                          true,
                          5};

const Alphabet kKernels = {{"a kernel in place or not",
                            R"(graph @f(%x: i8[1]) -> i8[1] {
  %a = neg %x : i8[1] on gpu:0 by k {in_place = [0 -> 0]}
  return %a as y
})",
                            "gpu:0 0 2",
                            R"(input x i8[1]
        output y i8[1]
        arena gpu:0
          !p 0 1
          !q 1 1)",
                            R"(gpu:0/a feed -> !p input 0
        gpu:0/a kernel %a (!p) -> !q
        gpu:0/a kernel %a (!p) -> !p
        gpu:0/b fetch !p output 0
        gpu:0/b fetch !q output 0
        gpu:0/c record ev0
        gpu:0/c wait ev0)"},
                           true,
                           5};

const Alphabet kMessages = {{"a message without a slot or with one",
                             R"(graph @f(%x: i8[1]) -> i8[1] {
  %c = copy %x : i8[1] on gpu:0
  return %c as y
})",
                             "gpu:0 0 3",
                             R"(input x i8[1]
        output y i8[1]
        arena gpu:0
          !p 0 1
          !q 1 1
          !slot 2 1
        channel 0 gpu:0/a -> gpu:0/b capacity 0
        channel 1 gpu:0/a -> gpu:0/b capacity 1 slots (!slot))",
                             R"(gpu:0/a feed -> !p input 0
        gpu:0/b feed -> !q input 0
        gpu:0/a send %c !p channel 0
        gpu:0/b recv %c -> !q channel 0
        gpu:0/a send %c !p channel 1
        gpu:0/b recv %c -> !q channel 1
        gpu:0/b fetch !q output 0
        gpu:0/a fetch !p output 0)"},
                            false,
                            5};

const Alphabet kCollectives = {{"halves gathered in place",
                                R"(graph @f(%x: i8[2]) -> i8[2] {
  %r = copy %x : i8[2] on {gpu:0, gpu:1} (split 0) -> (replicated)
  return %r as y
})",
                                R"(gpu:0 0 2
        gpu:1 0 2)",
                                R"(input x i8[2]
        output y i8[2]
        arena gpu:0
          !p 0 2
          !low 0 1
        arena gpu:1
          !q 0 2
          !high 1 1
        group 0 (gpu:0/a, gpu:1/a))",
                                R"(gpu:0/a feed -> !p input 0
        gpu:1/a feed -> !q input 0
        gpu:0/a collective %r rank 0 !low -> !p group 0
        gpu:1/a collective %r rank 1 !high -> !q group 0
        gpu:0/a fetch !p output 0
        gpu:1/a fetch !q output 0
        gpu:0/a record ev0
        gpu:1/a wait ev0)"},
                               false,
                               5};

// The root's input may be fed again as soon as its part has ended.
const Alphabet kBroadcasts = {{"a byte broadcast to the other device",
                               R"(graph @f(%x: i8[1] on gpu:0) -> i8[1] {
  %r = copy %x : i8[1] on {gpu:0, gpu:1}
  return %r as y
})",
                               R"(gpu:0 0 1
        gpu:1 0 1)",
                               R"(input x i8[1]
        output y i8[1]
        arena gpu:0
          !p 0 1
        arena gpu:1
          !q 0 1
        group 0 (gpu:0/a, gpu:1/a))",
                               R"(gpu:0/a feed -> !p input 0
        gpu:0/a collective %r !p group 0
        gpu:1/a collective %r rank 1 -> !q group 0
        gpu:0/a fetch !p output 0
        gpu:1/a fetch !q output 0
        gpu:1/a record ev0
        gpu:0/a wait ev0)"},
                              false,
                              5};

const Alphabet kVariable = {{"a variable over overlapping steps",
                             R"(variable @w: i8[1] = i8[1] [1]

graph @f(%x: i8[1]) -> i8[1] {
  %w = variable {dtype = i8, name = "w", shape = [1]} : i8[1] on gpu:0
  %u = neg %w : i8[1] on gpu:0 by k {in_place = [0 -> 0]}
  update @w = %u
  return %w as y
})",
                             "gpu:0 1 0",
                             R"(depth 2
        input x i8[1]
        output y i8[1]
        arena gpu:0
          !w persistent 0 1
        persistent
          !w = %w)",
                             R"(gpu:0/a kernel %u (!w) -> !w
        gpu:0/b fetch !w output 0
        gpu:0/c record ev0
        gpu:0/c wait ev0
        gpu:0/c record ev1
        gpu:0/c wait ev1)"},
                            true,
                            4};

// Rules that refuse plans although no machine is harmed: events that are
// recorded twice, partners that disagree, and work whose result nobody reads,
// on another value than it states or concurrent with another write.
bool IsRefusedAllTheSame(Rule rule) {
  return rule == Rule::kRecordedOnce || rule == Rule::kMessagePairs ||
         rule == Rule::kGroupOrder || rule == Rule::kWrongValue ||
         rule == Rule::kWriteAfterWrite;
}

// Enumerates all sequences of letters and counts agreements.
class Enumeration {
 public:
  explicit Enumeration(const Alphabet& alphabet)
      : alphabet_(alphabet), plan_(PlanOf(alphabet.letters)) {
    const std::vector<Command> given = plan_.entries[0].programs[0].commands;
    const int streams = static_cast<int>(plan_.entries[0].streams.size());
    for (const Command& command : given) {
      for (int s = 0; s < (alphabet.any_stream ? streams : 1); ++s) {
        letters_.push_back(command);
        if (alphabet.any_stream) letters_.back().stream = StreamId(s);
      }
    }
    const char* every = std::getenv("PARTITA_ENUMERATION_SHARE");
    if (alphabet.any_stream && alphabet.longest > 4) {
      every_ = every == nullptr ? 7 : std::max(1, std::atoi(every));
    }
  }

  void Run() {
    plan_.entries[0].programs[0].commands.clear();
    Extend(0);
    std::printf(
        "%s: %lld plans, %lld judged, %lld good, %lld refused "
        "though harmless\n",
        std::string(alphabet_.letters.name).c_str(), plans_, judged_, good_,
        form_);
    EXPECT_GT(good_, 0);
  }

 private:
  std::vector<Command>& commands() {
    return plan_.entries[0].programs[0].commands;
  }

  // Streams that differ only in number are tried in order of first use.
  void Extend(int streams_used) {
    ++plans_;
    if (Interesting() && (every_ == 1 || plans_ % every_ == 0)) Compare();
    if (static_cast<int>(commands().size()) == alphabet_.longest) return;
    for (const Command& letter : letters_) {
      if (alphabet_.any_stream && letter.stream.index > streams_used) continue;
      commands().push_back(letter);
      const int used = std::max(streams_used, letter.stream.index + 1);
      Extend(alphabet_.any_stream ? used : streams_used);
      commands().pop_back();
    }
  }

  // Counting suffices to refuse plans that do not fetch the output once.
  bool Interesting() {
    int fetches = 0;
    for (const Command& command : commands()) {
      fetches += command.kind == Kind::kFetch;
    }
    return fetches == 1;
  }

  void Compare() {
    ++judged_;
    const std::vector<Finding> findings = FindFaults(plan_);
    const Verdict verdict = Judge(plan_, 0);
    ASSERT_TRUE(verdict.harmful() || verdict.exhaustive);
    good_ += findings.empty();
    if (verdict.harmful() == !findings.empty()) return;
    if (!verdict.harmful() && IsRefusedAllTheSame(findings[0].rule)) {
      ++form_;
      return;
    }
    ADD_FAILURE() << "machines: "
                  << (verdict.harmful() ? verdict.harm : "no harm")
                  << "\nchecker: "
                  << (findings.empty() ? "proved" : findings[0].message) << "\n"
                  << PrintPlan(plan_);
  }

  const Alphabet& alphabet_;
  Plan plan_;
  std::vector<Command> letters_;
  int every_ = 1;
  long long plans_ = 0;
  long long judged_ = 0;
  long long good_ = 0;
  long long form_ = 0;
};

class Enumerations : public testing::TestWithParam<const Alphabet*> {};

TEST_P(Enumerations, CheckerAndMachinesAgree) {
  Enumeration(*GetParam()).Run();
}

INSTANTIATE_TEST_SUITE_P(All, Enumerations,
                         testing::Values(&kEvents, &kKernels, &kMessages,
                                         &kCollectives, &kBroadcasts,
                                         &kVariable));

}  // namespace
}  // namespace partita
