// Ordering and memory faults of other systems. Each is a small plan that the
// checker must refuse with a clear message.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "runtime/plan/checker/testing/mutants/case_study.h"
#include "runtime/plan/checker/testing/oracle/oracle.h"

namespace partita {
namespace {

// ggml #26040: a split without inputs of its own ran in parallel with another
// split and overwrote memory that the other still used.
const CaseStudy kGgml26040 = {
    {"ggml #26040",
     R"(graph @f(%x: i8[4], %z: i8[4]) -> (i8[4], i8[4]) {
  %a = neg %x : i8[4] on gpu:0
  %b = abs %a : i8[4] on gpu:0
  %c = neg %z : i8[4] on gpu:0
  return %b, %c
})",
     "gpu:0 0 16",
     R"(input x i8[4]
        input z i8[4]
        output b i8[4]
        output c i8[4]
        arena gpu:0
          !x 0 4
          !z 4 4
          !a 8 4
          !b 12 4
          !c 8 4)",
     R"(gpu:0/split0 feed -> !x input 0
        gpu:0/split0 kernel %a (!x) -> !a
        gpu:0/split0 kernel %b (!a) -> !b
        gpu:0/split0 fetch !b output 0
        gpu:0/split1 feed -> !z input 1
        gpu:0/split1 kernel %c (!z) -> !c
        gpu:0/split1 fetch !c output 1)"},
    "plan @f: command 5 writes gpu:0 !c (bytes 8..12) while command 1 may "
    "still "
    "write it\n"
    "  no event orders gpu:0/split0 before gpu:0/split1; record an event after "
    "command 1 and wait for it before command 5\n"
    "plan @f: command 5 writes gpu:0 !c (bytes 8..12) while command 2 may "
    "still "
    "read it\n"
    "  no event orders gpu:0/split0 before gpu:0/split1; record an event after "
    "command 2 and wait for it before command 5"};

// XLA #38709: completion events were not scoped to one execution, so a wait
// could pass at the record of another execution.
const CaseStudy kXla38709 = {{"XLA #38709",
                              R"(graph @f(%x: i8[1]) -> i8[1] {
  %a = neg %x : i8[1] on gpu:0
  return %a as y
})",
                              "gpu:0 0 3",
                              R"(input x i8[2]
        output y i8[2]
        arena gpu:0
          !x 0 1
          !a0 1 1
          !a1 2 1)",
                              R"(gpu:0/s feed batch 0 -> !x input 0
        gpu:0/s kernel %a batch 0 (!x) -> !a0
        gpu:0/s record ev0
        gpu:0/s feed batch 1 -> !x input 0
        gpu:0/s kernel %a batch 1 (!x) -> !a1
        gpu:0/s record ev0
        gpu:0/out wait ev0
        gpu:0/out fetch batch 0 !a0 output 0
        gpu:0/out wait ev0
        gpu:0/out fetch batch 1 !a1 output 0)"},
                             "plan @f: command 5 records ev0, which command 2 "
                             "has recorded; a wait could "
                             "pass too early; use another event"};

// pytorch #172668: two ranks both block in a send before their receive.
const CaseStudy kPytorch172668 = {
    {"pytorch #172668", kSentBothWays,
     R"(gpu:0 0 6
        gpu:1 0 6)",
     R"(input x i8[2]
        input z i8[2]
        output there i8[2]
        output back i8[2]
        arena gpu:0
          !x 0 2
          !a 2 2
          !back 4 2
        arena gpu:1
          !z 0 2
          !b 2 2
          !there 4 2
        channel 0 gpu:0/s -> gpu:1/s capacity 0
        channel 1 gpu:1/s -> gpu:0/s capacity 0)",
     R"(gpu:0/s feed -> !x input 0
        gpu:0/s kernel %a (!x) -> !a
        gpu:1/s feed -> !z input 1
        gpu:1/s kernel %b (!z) -> !b
        gpu:0/s send %there !a channel 0
        gpu:1/s send %back !b channel 1
        gpu:0/s recv %back -> !back channel 1
        gpu:1/s recv %there -> !there channel 0
        gpu:0/s fetch !back output 1
        gpu:1/s fetch !there output 0)"},
    "plan @f: command 4 and command 7 are the two sides of a message without a "
    "slot, "
    "but other commands are between them in launch order; those may wait for "
    "the first and block the last"};

// Megatron #5100: in a pipeline, one stage sends forward twice before it
// receives, and the other stage waits to send.
const CaseStudy kMegatron5100 = {
    {"Megatron #5100",
     R"(graph @f(%x: i8[1]) -> i8[1] {
  %a = neg %x : i8[1] on gpu:0
  %there = copy %a : i8[1] on gpu:1
  return %there as y
})",
     R"(gpu:0 0 2
        gpu:1 0 2)",
     R"(input x i8[2]
        output y i8[2]
        arena gpu:0
          !x 0 1
          !a 1 1
        arena gpu:1
          !c 0 1
          !slot 1 1
        channel 0 gpu:0/s -> gpu:1/s capacity 1 slots (!slot))",
     R"(gpu:0/s feed batch 0 -> !x input 0
        gpu:0/s kernel %a batch 0 (!x) -> !a
        gpu:0/s send %there batch 0 !a channel 0
        gpu:0/s feed batch 1 -> !x input 0
        gpu:0/s kernel %a batch 1 (!x) -> !a
        gpu:0/s send %there batch 1 !a channel 0
        gpu:1/s recv %there batch 0 -> !c channel 0
        gpu:1/s fetch batch 0 !c output 0
        gpu:1/s recv %there batch 1 -> !c channel 0
        gpu:1/s fetch batch 1 !c output 0)"},
    "plan @f: command 5 sends message 1 of channel 0, which has room for 1, "
    "before command 6 has received message 0; both ends wait for ever; receive "
    "it first, or raise the channel's capacity"};

// XLA #37936: without a rendezvous, one device enters one collective and the
// other device enters another collective of the same communicator.
const CaseStudy kXla37936 = {
    {"XLA #37936", kTwoReductions,
     R"(gpu:0 0 12
        gpu:1 0 12)",
     kOneGroup.data(),
     R"(gpu:0/s feed -> !x0 input 0
        gpu:0/s feed -> !z0 input 1
        gpu:0/s kernel %p rank 0 (!top0) -> !p0
        gpu:0/s kernel %q rank 0 (!low0) -> !q0
        gpu:1/s feed -> !x1 input 0
        gpu:1/s feed -> !z1 input 1
        gpu:1/s kernel %p rank 1 (!top1) -> !p1
        gpu:1/s kernel %q rank 1 (!low1) -> !q1
        gpu:0/s collective %r rank 0 !p0 -> !p0 group 0
        gpu:1/s collective %s rank 1 !q1 -> !q1 group 0
        gpu:0/s collective %s rank 0 !q0 -> !q0 group 0
        gpu:1/s collective %r rank 1 !p1 -> !p1 group 0
        gpu:0/s fetch !p0 output 0
        gpu:0/s fetch !q0 output 1)"},
    "plan @f: command 9 is collective 0 of rank 1 of group 0 and does copy "
    "%s rank 1, but command 8 is that of rank 0 and does copy %r; every "
    "rank must issue the same sequence\n"
    "plan @f: command 11 is collective 1 of rank 1 of group 0 and does copy "
    "%r rank 1, but command 10 is that of rank 0 and does copy %s; every "
    "rank must issue the same sequence"};

// XLA #47467: two collectives that share two devices are launched in opposite
// orders on these devices, and each waits for the other.
const CaseStudy kXla47467 = {
    {"XLA #47467", kTwoReductions,
     R"(gpu:0 0 12
        gpu:1 0 12)",
     kTwoGroups.data(),
     R"(gpu:0/s feed -> !x0 input 0
        gpu:0/s kernel %p rank 0 (!top0) -> !p0
        gpu:0/t feed -> !z0 input 1
        gpu:0/t kernel %q rank 0 (!low0) -> !q0
        gpu:1/s feed -> !x1 input 0
        gpu:1/s kernel %p rank 1 (!top1) -> !p1
        gpu:1/t feed -> !z1 input 1
        gpu:1/t kernel %q rank 1 (!low1) -> !q1
        gpu:0/s collective %r rank 0 !p0 -> !p0 group 0
        gpu:1/t collective %s rank 1 !q1 -> !q1 group 1
        gpu:0/t collective %s rank 0 !q0 -> !q0 group 1
        gpu:1/s collective %r rank 1 !p1 -> !p1 group 0
        gpu:0/s fetch !p0 output 0
        gpu:0/t fetch !q0 output 1)"},
    "plan @f: command 8 and command 11 are commands of one collective, but "
    "other "
    "commands are between them in launch order; those may wait for the first "
    "and block the last"};

// IREE #19891: a transfer was placed on a device that holds neither side of it.
const CaseStudy kIree19891 = {
    {"IREE #19891",
     R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %c = copy %a : i8[2] on gpu:1
  return %c as y
})",
     R"(gpu:0 0 4
        gpu:1 0 2
        gpu:2 0 0)",
     R"(input x i8[2]
        output y i8[2]
        arena gpu:0
          !x 0 2
          !a 2 2
        arena gpu:1
          !c 0 2)",
     R"(gpu:0/s feed -> !x input 0
        gpu:0/s kernel %a (!x) -> !a
        gpu:0/s record ev0
        gpu:2/s wait ev0
        gpu:2/s copy %c !a -> !c
        gpu:2/s record ev1
        gpu:1/s wait ev1
        gpu:1/s fetch !c output 0)"},
    "plan @f: command 4 copy: found it on a stream of gpu:2; expected one of "
    "gpu:0 or gpu:1, whose bytes it moves"};

class CaseStudies : public testing::TestWithParam<const CaseStudy*> {};

TEST_P(CaseStudies, IsRefusedInWords) {
  EXPECT_EQ(RefusalOf(*GetParam()), GetParam()->message)
      << GetParam()->plan.name;
}

INSTANTIATE_TEST_SUITE_P(All, CaseStudies,
                         testing::Values(&kGgml26040, &kXla38709,
                                         &kPytorch172668, &kMegatron5100,
                                         &kXla37936, &kXla47467, &kIree19891));

// The faults are real: a machine shows the harm of each, except the copy on a
// third device, which is only a fault of form.
TEST(CaseStudies, MachinesShowTheHarm) {
  for (const CaseStudy* study : {&kGgml26040, &kXla38709, &kPytorch172668,
                                 &kMegatron5100, &kXla37936, &kXla47467}) {
    EXPECT_TRUE(Judge(PlanOf(study->plan), 0).harmful()) << study->plan.name;
  }
}

}  // namespace
}  // namespace partita
