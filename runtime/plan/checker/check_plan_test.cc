// Tests the messages for broken plans, word for word.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/check_plan.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/graph_claims.h"
#include "runtime/plan/checker/testing/plan_description.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

// Two layers on two devices: gpu:0 computes %h in place of %a and sends it.
constexpr absl::string_view kMlp =
    R"(graph @mlp(%x: f32[32, 784]) -> f32[32, 10] {
  %w1 = constant f32[784, 256] #3fa9c13fa9c13fa9c13fa9c13fa9c13f on gpu:0
  %w2 = constant f32[256, 10] #4fa9c13fa9c13fa9c13fa9c13fa9c13f on gpu:1
  %a = matmul %x, %w1 : f32[32, 256] on gpu:0
  %h = relu %a : f32[32, 256] on gpu:0 by cuda.relu {in_place = [0 -> 0]}
  %c = copy %h : f32[32, 256] on gpu:1
  %y = matmul %c, %w2 : f32[32, 10] on gpu:1
  return %y
}
plan @mlp {
  device gpu:0 cuda memory 1000000
    arena persistent 802816 step 133120
  device gpu:1 cuda memory 50000
    arena persistent 10240 step 34048
  entry @mlp of @mlp {
    input x f32[32, 784]
    output y f32[32, 10]
    arena gpu:0
      !w1 persistent 0 802816
      !x 0 100352
      !a 100352 32768
    arena gpu:1
      !w2 persistent 0 10240
      !h 0 32768
      !y 32768 1280
    persistent
      !w1 = %w1
      !w2 = %w2
    stream gpu:0/compute
      0 feed -> !x input 0
      1 kernel %a (!x, !w1) -> !a
      2 kernel %h (!a) -> !a
      3 record ev0
    stream gpu:0/copy
      4 wait ev0
      5 copy %c !a -> !h
      6 record ev1
    stream gpu:1/compute
      7 wait ev1
      8 kernel %y (!h, !w2) -> !y
      9 fetch !y output 0
  }
}
)";

// One message from gpu:0 to gpu:1.
constexpr absl::string_view kMessage = R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %c = copy %a : i8[2] on gpu:1
  return %c
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 4
  device gpu:1 cuda memory 100
    arena persistent 0 step 2
  entry @f of @f {
    input x i8[2]
    output c i8[2]
    arena gpu:0
      !x 0 2
      !a 2 2
    arena gpu:1
      !c 0 2
    stream gpu:0/s
      0 feed -> !x input 0
      1 kernel %a (!x) -> !a
      2 send %c !a channel 0
    stream gpu:1/s
      3 recv %c -> !c channel 0
      4 fetch !c output 0
    channel 0 gpu:0/s -> gpu:1/s capacity 0
  }
}
)";

using ::partita::CheckerVerdict;  // besides the overload below
std::string CheckerVerdict(const TextChanges& changes) {
  return CheckerVerdict(changes, kMlp);
}

TEST(CheckPlan, ProvesAGoodPlan) {
  EXPECT_EQ(CheckerVerdict({}), "proved");
  absl::StatusOr<Plan> plan = ParsePlan(kMlp, "mlp.plan", OpSet::BuiltIn());
  ASSERT_TRUE(plan.ok());
  const absl::StatusOr<Certificate> certificate = CheckPlan(*plan);
  ASSERT_TRUE(certificate.ok());
  EXPECT_EQ(certificate->checker, "partita checker 2");
  EXPECT_FALSE(certificate->proved.empty());
  EXPECT_FALSE(certificate->assumed.empty());
}

TEST(CheckPlan, AClaimIsProvedOrAssumed) {
  absl::StatusOr<Plan> plan = ParsePlan(kMlp, "mlp.plan", OpSet::BuiltIn());
  ASSERT_TRUE(plan.ok());
  absl::StatusOr<Certificate> certificate = CheckPlan(*plan);
  ASSERT_TRUE(certificate.ok());
  EXPECT_EQ(certificate->proved.back(), "plan = bound graph");
  EXPECT_EQ(certificate->assumed[0],
            "bound graph = placed graph: only `compile` can prove it; the plan "
            "does not hold the placed graph");
  EXPECT_EQ(certificate->assumed[1],
            "placed graph = optimised graph: only `compile` can prove it; the "
            "plan does not hold the optimised graph");
  const size_t assumed = certificate->assumed.size();
  AddProof(kPlacedIsOptimised, ", from the dimension rules", *certificate);
  EXPECT_EQ(certificate->proved.back(),
            "placed graph = optimised graph, from the dimension rules");
  EXPECT_EQ(certificate->assumed.size(), assumed - 1);
  EXPECT_EQ(certificate->assumed[0], Assumed(kBoundIsPlaced));
}

TEST(CheckPlan, AMissingWaitIsARace) {
  EXPECT_EQ(CheckerVerdict({{"7 wait ev1", "7 wait ev0"}}),
            "plan @mlp: command 8 reads gpu:1 !h (bytes 0..32768) while "
            "command 5 may still write it\n"
            "  no event orders gpu:0/copy before gpu:1/compute; add `wait ev1` "
            "before command 8");
}

TEST(CheckPlan, ARaceWithoutAnEventToWaitFor) {
  EXPECT_EQ(
      CheckerVerdict(
          {{"6 record ev1", "6 wait ev0"}, {"7 wait ev1", "7 wait ev0"}}),
      "plan @mlp: command 8 reads gpu:1 !h (bytes 0..32768) while "
      "command 5 may still write it\n"
      "  no event orders gpu:0/copy before gpu:1/compute; record an event "
      "after command 5 and wait for it before command 8");
}

TEST(CheckPlan, AnotherValueIsNamed) {
  EXPECT_EQ(CheckerVerdict({{"2 kernel %h (!a) -> !a", "2 record ev2"}}),
            "plan @mlp: command 5 reads %h from gpu:0 !a (bytes "
            "100352..133120), but they hold %a bytes 0..32768 and not %h bytes "
            "0..32768\n"
            "plan @mlp: command 8 reads %c from gpu:1 !h (bytes "
            "0..32768), but they hold %a bytes 0..32768 and not %h bytes "
            "0..32768");
}

TEST(CheckPlan, UndefinedBytesAreNotRead) {
  EXPECT_EQ(CheckerVerdict({{"0 feed -> !x input 0", "0 record ev2"}}),
            "plan @mlp: command 1 reads %x from gpu:0 !x (bytes "
            "0..100352), but nothing has defined them");
}

TEST(CheckPlan, AWaitBeforeItsRecordIsRefused) {
  EXPECT_EQ(
      CheckerVerdict(
          {{"3 record ev0", "4 record ev0"}, {"4 wait ev0", "3 wait ev0"}}),
      "plan @mlp: command 3 waits for ev0, which command 4 records later "
      "in launch order; an executor that runs both in order waits for ever; "
      "launch the "
      "record first");
}

TEST(CheckPlan, AnEventIsRecordedOnce) {
  EXPECT_EQ(CheckerVerdict({{"6 record ev1", "6 record ev0"}}),
            "plan @mlp: command 6 records ev0, which command 3 has recorded; a "
            "wait could pass too early; use another event\n"
            "plan @mlp: command 7 waits for ev1, which no command records; "
            "record it, or leave the wait out");
}

TEST(CheckPlan, InPlaceNeedsTheKernelsPermission) {
  EXPECT_EQ(CheckerVerdict({{" by cuda.relu {in_place = [0 -> 0]}", ""}}),
            "plan @mlp: command 2 kernel writes gpu:0 !a, which overlaps its "
            "own gpu:0 !a; its signature allows no such result in place; use "
            "bytes of its own");
}

// Callers find ports by name, and would compute b - a.
constexpr absl::string_view kSub =
    R"(graph @f(%a: i8[2] on gpu:0, %b: i8[2] on gpu:0) -> i8[2] {
  %y = sub %a, %b : i8[2] on gpu:0
  return %y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 6
  entry @f of @f {
    input a i8[2]
    input b i8[2]
    output y i8[2]
    arena gpu:0
      !a 0 2
      !b 2 2
      !y 4 2
    stream gpu:0/s
      0 feed -> !a input 0
      1 feed -> !b input 1
      2 kernel %y (!a, !b) -> !y
      3 fetch !y output 0
  }
}
)";

TEST(CheckPlan, PortsAreCalledAsTheGraphCallsThem) {
  EXPECT_EQ(CheckerVerdict({}, kSub), "proved");
  EXPECT_EQ(
      CheckerVerdict({{"input a", "input b"}, {"input b", "input a"}}, kSub),
      "plan @f: input 0: found the name b; expected a, as @f calls it; "
      "rename the input\n"
      "plan @f: input 1: found the name a; expected b, as @f calls it; "
      "rename the input");
  EXPECT_EQ(CheckerVerdict({{"output y", "output z"}}, kSub),
            "plan @f: output 0: found the name z; expected y, as @f calls it; "
            "rename the output");
  EXPECT_EQ(CheckerVerdict({{"%b", "%1"}, {"input b", "input a"}}, kSub),
            "plan @f: input 1: found the name a a second time; expected each "
            "once; rename the input in the graph");
}

TEST(CheckPlan, EntriesAreCalledAsTheirFunctions) {
  EXPECT_EQ(CheckerVerdict({{"entry @f of", "entry @g of"}}, kSub),
            "plan @f: entry 0: found the name @g; expected @f, as its function "
            "is called; rename the entry");
  const size_t begin = kSub.find("  entry");
  const std::string entry(kSub.substr(begin, kSub.size() - begin - 2));
  EXPECT_EQ(
      CheckerVerdict({{entry, absl::StrCat(entry, entry)}}, kSub),
      "plan @f: entry @f: entry 1: found the name @f of entry 0; expected "
      "each once; leave one of them out");
}

TEST(CheckPlan, AnUpdateIsOneValueAStep) {
  constexpr absl::string_view kText = R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2] on gpu:0) -> i8[2] {
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %y = add %w, %x : i8[2] on gpu:0
  %n = copy %y : i8[2] on gpu:0
  update @w = %n
  return %y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 2 step 8
  entry @f of @f {
    input x i8[2, 2]
    output y i8[2, 2]
    arena gpu:0
      !w persistent 0 2
      !x0 0 2
      !x1 2 2
      !y0 4 2
      !y1 6 2
    persistent
      !w = %w
    stream gpu:0/s
      0 feed -> !x0 input 0
      1 feed batch 1 -> !x1 input 0
      2 kernel %y (!w, !x0) -> !y0
      3 fetch !y0 output 0
      4 kernel %y batch 1 (!w, !x1) -> !y1
      5 fetch batch 1 !y1 output 0
      6 copy %n batch 1 !y1 -> !w
  }
}
)";
  EXPECT_EQ(CheckerVerdict({}, kText),
            "plan @f: the update of variable w: found %n, which each of the 2 "
            "micro-batches makes anew, so that all but the last are lost; "
            "expected one value a step; sum it up by accumulate");
}

// Two micro-batches whose sum is an output.
constexpr char kSum[] = R"(graph @f(%x: i8[2]) -> i8[2] {
  %g = neg %x : i8[2] on gpu:0
  %s = accumulate %g {micro_batches = 3} : i8[2] on gpu:0
      by k {in_place = [1 -> 0]}
  return %s
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 8
  entry @f of @f {
    input x i8[6]
    output s i8[2]
    arena gpu:0
      !x 0 2
      !g 2 2
      !s 4 2
    stream gpu:0/s
      0 feed -> !x input 0
      1 kernel %g (!x) -> !s
      2 feed batch 1 -> !x input 0
      3 kernel %g batch 1 (!x) -> !g
      4 kernel %s batch 1 (!g, !s) -> !s
      5 feed batch 2 -> !x input 0
      6 kernel %g batch 2 (!x) -> !g
      7 kernel %s batch 2 (!g, !s) -> !s
      8 fetch !s output 0
  }
}
)";

TEST(CheckPlan, ASumHasEachMicroBatchOnceAndInOrder) {
  EXPECT_EQ(CheckerVerdict({}, kSum), "proved");
  EXPECT_EQ(CheckerVerdict({{"micro_batches = 3", "micro_batches = 4"}}, kSum),
            "plan @f: accumulate %s: found a sum over 4 micro-batches in an "
            "entry of 3; expected as many; run each micro-batch once");
  EXPECT_EQ(CheckerVerdict({{"4 kernel %s batch 1", "4 kernel %s"}}, kSum),
            "plan @f: command 4 kernel: found accumulate %s in micro-batch 0, "
            "whose operand is the first sum; expected it in the later ones "
            "only; drop the command");
  EXPECT_EQ(CheckerVerdict({{"      7 kernel %s batch 2 (!g, !s) -> !s\n", ""},
                            {"8 fetch", "7 fetch"}},
                           kSum),
            "plan @f: command 7 reads %s from gpu:0 !s (bytes 4..6), but they "
            "hold the partial sum %s bytes 0..2 of micro-batch 1 and not %s "
            "bytes 0..2");
  EXPECT_EQ(
      CheckerVerdict(
          {{"7 kernel %s batch 2 (!g, !s)", "7 kernel %s batch 2 (!g)"}}, kSum),
      "plan @f: command 7 kernel: found 1 operands and 1 results; "
      "expected the 2 and 1 of accumulate %s; name one buffer for each");
}

// In micro-batch 0 no kernel runs: the bytes of the summand are the sum.
constexpr char kSumOfRows[] = R"(graph @f(%x: i8[2, 2]) -> i8[2, 2] {
  %g = neg %x : i8[2, 2] on gpu:0
  %s = accumulate %g {micro_batches = 2} : i8[2, 2] on gpu:0
      by k {in_place = [1 -> 0]}
  %y = reorder %s : i8[2, 2] on gpu:0
  return %y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 16
  entry @f of @f {
    input x i8[4, 2]
    output y i8[2, 2]
    arena gpu:0
      !x 0 4
      !g 4 4
      !s 8 4
      !y 12 4
    stream gpu:0/s
      0 feed -> !x input 0
      1 kernel %g (!x) -> !s
      2 feed batch 1 -> !x input 0
      3 kernel %g batch 1 (!x) -> !g
      4 kernel %s batch 1 (!g, !s) -> !s
      5 kernel %y batch 1 (!s) -> !y
      6 fetch !y output 0
  }
}
)";

TEST(CheckPlan, ASumKeepsTheLayoutOfItsSummand) {
  EXPECT_EQ(CheckerVerdict({}, kSumOfRows), "proved");
  EXPECT_EQ(
      CheckerVerdict({{"{micro_batches = 2} : i8[2, 2]",
                       "{micro_batches = 2} : i8[2, 2]{ba}"}},
                     kSumOfRows),
      "plan @f: accumulate %s: found operand 0 as i8[2, 2] and result 0 as "
      "i8[2, 2]{ba}; expected one layout for both, as no kernel converts it; "
      "put a reorder before it");
}

TEST(CheckPlan, SizesAreThoseOfTheTypes) {
  EXPECT_EQ(CheckerVerdict({{"!y 32768 1280", "!y 32768 1276"}}),
            "plan @mlp: command 8 kernel: found 1276 bytes in gpu:1 !y; "
            "expected the 1280 of %y: f32[32, 10]; change the buffer's range\n"
            "plan @mlp: command 9 fetch: found 1276 bytes in gpu:1 !y; "
            "expected the 1280 of output 0; change the buffer's range");
}

TEST(CheckPlan, BytesAreInsideTheirPart) {
  EXPECT_EQ(CheckerVerdict({{"!y 32768 1280", "!y 33000 1280"}}),
            "plan @mlp: gpu:1 !y: found offset 33000, 1 x 1280 bytes; expected "
            "a range inside the 34048 bytes of the step-local part; move it or "
            "enlarge the part");
}

TEST(CheckPlan, KernelsReadBytesOfTheirOwnDevice) {
  EXPECT_EQ(
      CheckerVerdict({{"8 kernel %y (!h, !w2)", "8 kernel %y (!a, !w2)"}}),
      "plan @mlp: command 8 kernel: found gpu:0 !a on a stream of gpu:1; "
      "expected bytes of that device; copy them first");
}

// The stream's name is not parsed for a device.
TEST(CheckPlan, AStreamsNameIsFreeText) {
  EXPECT_EQ(CheckerVerdict({{"gpu:0/copy", "gpu:0/copy:gpu:44288"}}), "proved");
}

TEST(CheckPlan, AMissingIdHasNoNumber) {
  EXPECT_EQ(CheckerVerdict({{" output 0", ""}}),
            "plan @mlp: command 9: found no output; expected one of the 1 that "
            "exist; add its number to the command, as in `output 0`");
  EXPECT_EQ(CheckerVerdict({{" input 0", ""}}),
            "plan @mlp: command 0: found no input; expected one of the 1 that "
            "exist; add its number to the command, as in `input 0`");
  EXPECT_EQ(CheckerVerdict({{"1 kernel %a", "1 kernel"}}),
            "plan @mlp: command 1 kernel: found no node; expected one of the "
            "bound graph; name it by its first result, as in `%y`");
  EXPECT_EQ(CheckerVerdict({{"!a channel 0", "!a"}}, kMessage),
            "plan @f: command 2: found no channel; expected one of the 1 that "
            "exist; add its number to the command, as in `channel 0`");
}

TEST(CheckPlan, EveryOutputByteIsFetchedOnce) {
  EXPECT_EQ(CheckerVerdict({{"9 fetch !y output 0", "9 record ev2"}}),
            "plan @mlp: output 0 y: found 0 bytes fetched, 0 of them in a row "
            "from the first; expected each of its 1280 bytes once; fetch every "
            "shard of every micro-batch once");
}

TEST(CheckPlan, ConstantsAreNotWritten) {
  EXPECT_EQ(CheckerVerdict({{"!x 0 100352", "!x persistent 0 100352"}}),
            "plan @mlp: command 0 writes gpu:0 !x over the constant in "
            "persistent bytes 0..802816; a constant is only read, in every "
            "step; use other "
            "bytes");
}

TEST(CheckPlan, MemoryIsThatOfTheDevice) {
  EXPECT_EQ(CheckerVerdict({{"memory 50000", "memory 44287"}}),
            "plan @mlp: found 44288 bytes needed on gpu:1 (10240 persistent "
            "and 1 x 34048 for steps); expected at most 44287; place some of "
            "it elsewhere or lower the batch");
}

TEST(CheckPlan, RatesAreFiniteAndNotNegative) {
  const auto with = [](absl::string_view rates) {
    const std::string arena =
        absl::StrCat("step 34048\n    rates ", rates, "\n");
    return CheckerVerdict({{"step 34048\n", arena}});
  };
  EXPECT_EQ(with("bandwidth 1e+09 launch 0 f32 1e+12"), "proved");
  EXPECT_EQ(with("launch -5"),
            "plan @mlp: device gpu:1: found launch -5; expected a finite "
            "number, not negative; change the rates");
  EXPECT_EQ(with("bandwidth nan f32 inf"),
            "plan @mlp: device gpu:1: found bandwidth nan; expected a finite "
            "number, not negative; change the rates\n"
            "plan @mlp: device gpu:1: found f32 inf; expected a finite "
            "number, not negative; change the rates");
}

TEST(CheckPlan, EachFaultOfAMessageHasItsName) {
  EXPECT_EQ(CheckerVerdict({}, kMessage), "proved");
  EXPECT_EQ(CheckerVerdict({{"2 send %c !a", "2 send %a !a"}}, kMessage),
            "plan @f: command 2 send: found neg %a; expected a copy node of "
            "the graph, as only those are sent; name another");
  EXPECT_EQ(CheckerVerdict({{"2 send %c !a", "2 send %c !c"}}, kMessage),
            "plan @f: command 2 send: found gpu:1 !c on a stream of gpu:0; "
            "expected bytes of that device; name another buffer");
  EXPECT_EQ(CheckerVerdict({{"%c = copy %a : i8[2] on gpu:1",
                             "%c = copy %a : i8[2] on gpu:0"}},
                           kMessage),
            "plan @f: command 3 recv: found gpu:1 !c; expected copy %c "
            "received on gpu:0, where the graph places it; use a buffer "
            "there");
}

TEST(CheckPlan, UnlikeConstantsDoNotOverlap) {
  EXPECT_EQ(
      CheckerVerdict(
          {{"!w1 = %w1", "!w1 = %w1\n      !v = %w1"},
           {"!x 0 100352", "!x 0 100352\n      !v persistent 0 802812"}}),
      "plan @mlp: persistent value gpu:0 !v: found 802812 bytes; expected one "
      "block of the 802816 of f32[784, 256]; change the buffer's size\n"
      "plan @mlp: persistent ranges gpu:0 !w1 and gpu:0 !v overlap and hold "
      "different values; each needs bytes of its own");
}

}  // namespace
}  // namespace partita
