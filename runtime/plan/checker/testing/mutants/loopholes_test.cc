// Plans written to deceive the checker: each does harm, or relies on what no
// executor guarantees. The checker must refuse each with a message that says
// so.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

// y = -(x w) on one device, the basis of most plans below.
constexpr ShortPlan kSmall = {"small",
                              R"(graph @f(%x: f32[2]) -> f32[2] {
  %w = constant f32[2] [1, 2] on gpu:0
  %a = mul %x, %w : f32[2] on gpu:0
  %y = neg %a : f32[2] on gpu:0 by k {in_place = [0 -> 0], workspace = 4}
  return %y
})",
                              "gpu:0 16 52",
                              R"(input x f32[2]
       output y f32[2]
       arena gpu:0
         !w persistent 0 8
         !spare persistent 8 8
         !x 0 8
         !a 8 8
         !scratch 48 4
       persistent
         !w = %w)",
                              R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x, !w) -> !a
       gpu:0/s kernel %y (!a) -> !a workspace !scratch
       gpu:0/s fetch !a output 0)"};

using Changes = std::vector<std::pair<absl::string_view, absl::string_view>>;

std::string VerdictOf(const std::string& text) {
  const absl::StatusOr<Plan> plan = ParsePlan(text, "plan", OpSet::BuiltIn());
  if (!plan.ok()) return absl::StrCat("unread: ", plan.status().message());
  const std::vector<Finding> findings = FindFaults(*plan);
  return findings.empty() ? "proved" : findings[0].message;
}

// The first finding for kSmall with some of its text replaced.
std::string CheckerVerdict(const Changes& changes) {
  const std::string text = TextOf(kSmall);
  const std::string changed = absl::StrReplaceAll(text, changes);
  if (!changes.empty() && changed == text) return "nothing was changed";
  return VerdictOf(changed);
}

TEST(Loopholes, TheSmallPlanIsProved) {
  EXPECT_EQ(CheckerVerdict({}), "proved");
}

// A constant may be in a mapped file: a write there ends the process, or
// changes the constant for all sessions.
TEST(Loopholes, AConstantIsNotBorrowedAndGivenBack) {
  ShortPlan plan = kSmall;
  plan.graph = R"(graph @f(%x: f32[2]) -> f32[2] {
  %w = constant f32[2] [1, 2] on gpu:0
  %keep = copy %w : f32[2] on gpu:0
  %back = copy %keep : f32[2] on gpu:0
  %a = mul %x, %w : f32[2] on gpu:0
  return %a as y
})";
  plan.launch = R"(gpu:0/s copy %keep !w -> !spare
       gpu:0/s feed -> !w input 0
       gpu:0/s kernel %a (!w, !spare) -> !a
       gpu:0/s copy %back !spare -> !w
       gpu:0/s fetch !a output 0)";
  EXPECT_EQ(VerdictOf(TextOf(plan)),
            "plan @f: command 1 writes gpu:0 !w over the constant in "
            "persistent bytes 0..8; a constant is only read, in every step; "
            "use other bytes");
}

// Sends write slots; the value and race rules see slots only as messages.
TEST(Loopholes, AMessageSlotIsNotPersistent) {
  const std::string text = TextOf(BasePlanNamed("a channel of one slot"));
  const std::string persistent = absl::StrReplaceAll(
      text, {{"!slot 4 2", "!slot persistent 0 2"},
             {"arena persistent 0 step 6", "arena persistent 2 step 6"},
             {"memory 6", "memory 8"}});
  ASSERT_NE(text, persistent);
  EXPECT_EQ(VerdictOf(persistent),
            "plan @f: found the message slot gpu:1 !slot in the persistent "
            "part; expected it in the step-local part, as other entries hold "
            "values there; move it");
}

// Collectives reduce and copy contiguous elements.
TEST(Loopholes, ACollectiveTakesOneBlock) {
  const std::string text = TextOf(BasePlanNamed("permute to the next device"));
  const std::string spaced =
      absl::StrReplaceAll(text, {{"!g1 0 2", "!g1 0 1 x 2 every 3"}});
  ASSERT_NE(text, spaced);
  EXPECT_EQ(VerdictOf(spaced),
            "plan @f: command 4 collective: found gpu:1 !g1 in 2 blocks; "
            "expected one block; copy first");
}

// A node that computes is not a collective, whatever its shardings are.
TEST(Loopholes, ACollectiveComputesNothing) {
  const std::string text =
      TextOf(BasePlanNamed("all_gather of split rows, then memory used again"));
  const std::string computes = absl::StrReplaceAll(
      text, {{"%g = copy %h", "%g = sign %h"},
             {"(split 0) -> (replicated)", "(split 0) -> (split 0)"},
             {"(replicated) -> (replicated)", "(split 0) -> (split 0)"}});
  ASSERT_NE(text, computes);
  EXPECT_TRUE(absl::StrContains(VerdictOf(computes),
                                "expected a copy node whose operand and "
                                "result are sharded differently"))
      << VerdictOf(computes);
}

// gpu:1 reads !x0 before its part of the broadcast. Its part waits for the
// root's part, but the root does not learn of the read.
TEST(Loopholes, ABroadcastOrdersNothingBeforeItsRoot) {
  ShortPlan plan =
      BasePlanNamed("broadcast, then the root's memory used again");
  plan.graph = R"(graph @f(%x: i8[2]) -> (i8[2], i8[2]) {
  %h = neg %x : i8[2] on gpu:0
  %g = copy %h : i8[2] on {gpu:0, gpu:1}
  %c = copy %x : i8[2] on gpu:1
  %a = sign %x : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  %b = abs %g : i8[2] on gpu:1
  return %a, %b
})";
  plan.launch = R"(gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %h (!x0) -> !h0
      gpu:0/s record ev0
      gpu:0/c wait ev0
      gpu:1/c wait ev0
      gpu:1/c copy %c !x0 -> !b1
      gpu:0/c collective %g !h0 group 0
      gpu:1/c collective %g rank 1 -> !g1 group 0
      gpu:0/c record ev1
      gpu:0/s wait ev1
      gpu:0/s kernel %a (!x0) -> !x0
      gpu:0/s fetch !x0 output 0
      gpu:1/c kernel %b (!g1) -> !b1
      gpu:1/c fetch !b1 output 1)";
  EXPECT_EQ(VerdictOf(TextOf(plan)),
            "plan @f: command 10 writes gpu:0 !x0 (bytes 0..2) while command 5 "
            "may still read it\n  no event orders gpu:1/c before gpu:0/s; "
            "record an event after command 5 and wait for it before command "
            "10");
}

// In a permute of three a taker is ordered after its giver only, so the memory
// of other ranks is not safe to overwrite.
TEST(Loopholes, APermuteOrdersOnlyTheGiverBeforeATaker) {
  ShortPlan plan = BasePlanNamed("permute to the next device");
  plan.graph = R"(graph @f(%x: i8[4]) -> i8[4] {
  %h = neg %x : i8[4] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %g = copy %h : i8[4] on {gpu:1, gpu:2} (split 0) -> (split 0)
  %c = copy %x : i8[4] on gpu:2
  return %g as y
})";
  plan.devices = R"(gpu:0 0 6
      gpu:1 0 6
      gpu:2 0 6)";
  plan.declared = R"(input x i8[4]
      output y i8[4]
      arena gpu:0
        !x0 0 4
        !low0 0 2
        !h0 4 2
      arena gpu:1
        !x1 0 4
        !high1 2 2
        !h1 4 2
        !g1 0 2
      arena gpu:2
        !g2 0 2
        !c2 2 4
      group 0 (gpu:1/s, gpu:2/s, gpu:0/s))";
  plan.launch = R"(gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %h (!low0) -> !h0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %h rank 1 (!high1) -> !h1
      gpu:1/s collective %g !h1 -> !g1 group 0
      gpu:2/s collective %g rank 1 -> !g2 group 0
      gpu:0/s collective %g rank 2 !h0 group 0
      gpu:2/s copy %c !x0 -> !c2
      gpu:1/s fetch !g1 output 0
      gpu:2/s fetch !g2 output 0)";
  // gpu:2 takes what gpu:1 gives, and reads gpu:0's bytes.
  EXPECT_EQ(VerdictOf(TextOf(plan)),
            "plan @f: command 7 reads gpu:0 !x0 (bytes 0..2) while command 0 "
            "may still write it\n  no event orders gpu:0/s before gpu:2/s; "
            "record an event after command 0 and wait for it before command "
            "7");
}

// The bytes may be right although the graph states another sharding; a
// reference run follows the graph.
TEST(Loopholes, ShardsAreReadAsTheyWereMade) {
  const std::string text =
      TextOf(BasePlanNamed("columns of a matrix are copied as blocks"));
  for (const char* made : {"split 0", "replicated"}) {
    EXPECT_EQ(VerdictOf(absl::StrReplaceAll(
                  text, {{"(replicated) -> (split 1)",
                          absl::StrCat("(replicated) -> (", made, ")")}})),
              absl::StrCat("plan @f: abs %y: found operand 0 read as split 1; "
                           "expected ",
                           made, ", as %s was made; place it again"));
  }
  EXPECT_EQ(VerdictOf(absl::StrReplaceAll(
                text, {{"%y = abs %s : i8[2, 4] on {gpu:0, gpu:1}",
                        "%y = abs %s : i8[2, 4] on {gpu:1, gpu:0}"}})),
            "plan @f: abs %y: found operand 0 read in shards on gpu:1, gpu:0; "
            "expected gpu:0, gpu:1, where %s was made; place it again");
}

TEST(Loopholes, AddressesAreAlignedWhereverTheArenaBegins) {
  EXPECT_EQ(CheckerVerdict({{"memory 68", "memory 68 alignment 2"}}),
            "plan @f: command 1 kernel: found gpu:0 !x in an arena aligned to "
            "2; expected at least 4; raise the device's alignment");
  for (const char* alignment : {"48", "4194304"}) {
    EXPECT_EQ(CheckerVerdict({{"memory 68", absl::StrCat("memory 68 alignment ",
                                                         alignment)}}),
              absl::StrCat("plan @f: device gpu:0: found memory 68, persistent "
                           "16, step 52 and alignment ",
                           alignment,
                           "; expected sizes of 0 to 2^50 bytes, a power of "
                           "two up to 2^21 as alignment, and a name that no "
                           "other device has; change what differs"));
  }
}

// The checker looks at the last byte of a range, however many blocks it has.
TEST(Loopholes, TheLastOfManyBlocksIsLookedAt) {
  constexpr int kCopied = 900000;
  constexpr int kRead = kCopied + 1000;
  const std::string text = absl::StrReplaceAll(
      R"(graph @f(%x: i8[READ]) -> i8[READ] {
  %c = copy %x : i8[READ] on gpu:0
  return %c as y
}
plan @f {
  device gpu:0 cuda memory 4000000
    arena persistent 0 step 4000000
  entry @f of @f {
    input x i8[READ]
    output y i8[READ]
    arena gpu:0
      !x 0 READ
      !from 0 COPIED
      !to 1000000 1 x COPIED every 2
      !all 1000000 1 x READ every 2
    stream gpu:0/s
      0 feed -> !x input 0
      1 copy %c !from -> !to
      2 fetch !all output 0
  }
}
)",
      {{"READ", absl::StrCat(kRead)}, {"COPIED", absl::StrCat(kCopied)}});
  EXPECT_EQ(VerdictOf(text),
            "plan @f: command 2 reads %c from gpu:0 !all (bytes "
            "2800000..2800001), but nothing has defined them");
}

// A value in many fragments that is copied again and again takes more work than
// the plan's size allows. The checker gives up the proof and refuses the plan.
TEST(Loopholes, TheProofOfAPlanInTooManyFragmentsIsGivenUp) {
  std::string text = absl::StrReplaceAll(
      R"(graph @f(%x: i8[WHOLE]) -> i8[WHOLE] {
  %c = copy %x : i8[WHOLE] on gpu:0
  return %c as y
}
plan @f {
  device gpu:0 cuda memory 4000000
    arena persistent 0 step 4000000
  entry @f of @f {
    input x i8[WHOLE]
    output y i8[WHOLE]
    arena gpu:0
      !x 0 WHOLE
      !low 0 HALF
      !high HALF HALF
      !even 1000000 1 x HALF every 2
      !odd 1000001 1 x HALF every 2
      !mixed 1000000 MIXED
      !sink 2000000 MIXED
    stream gpu:0/s
      0 feed -> !x input 0
      1 copy %c !low -> !even
      2 copy %c !high -> !odd
)",
      {{"WHOLE", "200001"}, {"HALF", "100000"}, {"MIXED", "200000"}});
  int command = 3;
  for (; command < 20; ++command) {
    absl::StrAppend(&text, "      ", command, " copy %c !mixed -> !sink\n");
  }
  absl::StrAppend(&text, "      ", command, " fetch !x output 0\n  }\n}\n");
  EXPECT_EQ(VerdictOf(text),
            "plan @f: found too many streams and fragments of ranges to prove "
            "their order; expected a plan with fewer");
}

struct Change {
  const char* what;
  Changes changes;
  const char* verdict;  // somewhere in the first finding
};

TEST(Loopholes, SmallChangesAreFound) {
  const Change kChanges[] = {
      {"a view past the end of its part",
       {{"!a 8 8", "!a 48 8"}},
       "expected a range inside the 52 bytes of the step-local part"},
      {"an offset that overflows with its size",
       {{"!a 8 8", "!a 1152921504606846976 8"}},
       "expected a range inside"},
      {"blocks whose product overflows",
       {{"!a 8 8", "!a 8 1099511627776 x 1099511627776 every 1099511627776"}},
       "expected a range inside"},
      {"many blocks, the last one outside",
       {{"!a 8 8", "!a 0 4 x 2 every 52"}},
       "expected a range inside"},
      {"blocks over each other",
       {{"!a 8 8", "!a 8 4 x 2 every 2"}},
       "expected a range inside"},
      {"an operand in blocks",
       {{"!x 0 8", "!x 0 4 x 2 every 12"}},
       "expected one block"},
      {"an operand between elements",
       {{"!x 0 8", "!x 2 8"}, {"!a 8 8", "!a 12 8"}},
       "expected a multiple of 4"},
      {"a buffer larger than its value",
       {{"!x 0 8", "!x 0 12"}},
       "found 12 bytes in gpu:0 !x; expected the 8"},
      {"a workspace that is too small",
       {{"!scratch 48 4", "!scratch 48 3"}},
       "found 3 bytes of workspace; expected 4 for k"},
      {"a workspace where no kernel can take it",
       {{"!scratch 48 4", "!scratch 44 4"}},
       "found gpu:0 !scratch at offset 44, byte 60 of its arena; expected a "
       "multiple of 64 there; move the buffer"},
      {"a workspace in an arena that begins anywhere",
       {{"memory 68", "memory 68 alignment 32"}},
       "found gpu:0 !scratch in an arena aligned to 32; expected at least 64; "
       "raise the device's alignment"},
      {"a workspace over the operand",
       {{"!a 8 8", "!a 44 8"}},
       "overlaps its own"},
      {"a workspace over a constant",
       {{"!scratch 48 4", "!scratch persistent 0 4"}},
       "over the constant in persistent bytes 0..8"},
      {"half in place",
       {{"-> !a workspace", "-> !b workspace"},
        {"!scratch 48 4", "!scratch 48 4\n    !b 12 8"}},
       "overlaps its own"},
      {"an operand that was taken in place and is read again",
       {{"3 fetch !a output 0",
         "3 kernel %y (!a) -> !x workspace !scratch\n"
         "      4 fetch !x output 0"}},
       "they hold %y"},
      {"a wait for an event of later in the same stream",
       {{"depth 1", "depth 1 events 1"},
        {"3 fetch !a output 0",
         "3 wait ev0\n      4 record ev0\n      5 fetch !a output 0"}},
       "records later in launch order"},
      {"an output fetched twice",
       {{"3 fetch !a output 0",
         "3 fetch !a output 0\n      4 fetch !a output 0"}},
       "expected each of its 8 bytes once"},
      {"memory that the device has not",
       {{"memory 68", "memory 67"}},
       "expected at most 67"},
      {"two steps in the memory of one",
       {{"@f depth 1", "@f depth 2"}},
       "2 x 52 for steps"},
      {"a value kept from the last step",
       {{"0 feed -> !x input 0\n", ""},
        {"1 kernel", "0 kernel"},
        {"2 kernel", "1 kernel"},
        {"3 fetch", "2 fetch"}},
       "nothing has defined them"},
  };
  for (const Change& change : kChanges) {
    const std::string verdict = CheckerVerdict(change.changes);
    EXPECT_TRUE(absl::StrContains(verdict, change.verdict))
        << change.what << ": " << verdict;
  }
}

// Changes of the plan that runs three micro-batches in two slots by programs.
TEST(Loopholes, InvocationsDoNotShareBuffersOrEvents) {
  const Change kChanges[] = {
      {"an invocation that records the event of another",
       {{"events (ev1)", "events (ev0)"}},
       "records slot0 (ev0), which command 2 of program first (invocation "
       "0) has recorded"},
      {"an invocation that waits for the event of another",
       {{"invoke out batch 1 buffers (!a1) events (ev1, ev3)",
         "invoke out batch 1 buffers (!a1) events (ev0, ev3)"}},
       "while command 1 of program first (invocation 1, batch 1) may still "
       "write it"},
      {"a slot taken one micro-batch too early",
       {{"invoke later batch 2 buffers (!a0) events (ev4, ev2)",
         "invoke later batch 2 buffers (!a1) events (ev4, ev2)"}},
       "may still"},
      {"an invocation made twice",
       {{"invoke out batch 2 buffers (!a0) events (ev4, ev5)",
         "invoke out batch 2 buffers (!a0) events (ev4, ev5)\n"
         "      invoke out batch 2 buffers (!a0) events (ev4, ev6)"},
        {"depth 1", "depth 1 events 7"}},
       "expected each of its 3 bytes once"},
      {"an invocation of another micro-batch",
       {{"invoke out batch 2 buffers (!a0)",
         "invoke out batch 1 buffers (!a0)"}},
       "of micro-batch 2 and not"},
      {"one slot for all", {{"(!a1)", "(!a0)"}}, "may still"},
      {"too few slots bound",
       {{"invoke first batch 1 buffers (!a1)",
         "invoke first batch 1 buffers ()"}},
       "expected one for each of the program's 1 slots"},
      {"a slot that no program has",
       {{"1 kernel %a (!x) -> $0", "1 kernel %a (!x) -> $1"}},
       "expected $N, with N less than 1"},
      {"a micro-batch beyond every number",
       {{"invoke out batch 2", "invoke out batch 2147483647"}},
       "expected a micro-batch, a number in 0..1048576"},
  };
  const std::string text =
      TextOf(BasePlanNamed("three micro-batches in two slots, by programs"));
  ASSERT_EQ(VerdictOf(text), "proved");
  for (const Change& change : kChanges) {
    const std::string changed = absl::StrReplaceAll(text, change.changes);
    ASSERT_NE(changed, text) << change.what;
    const std::string verdict = VerdictOf(changed);
    EXPECT_TRUE(absl::StrContains(verdict, change.verdict))
        << change.what << ": " << verdict;
  }
}

}  // namespace
}  // namespace partita
