// Ordering faults that other systems had in 2026. Each is a small plan that the
// checker must refuse with a clear message.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "runtime/plan/checker/testing/mutants/case_study.h"
#include "runtime/plan/checker/testing/oracle/oracle.h"

namespace partita {
namespace {

// torchrec #4149: one rank enters the first process group, waits on the host
// until that collective has ended, and then enters the second group. The other
// rank enters them in the opposite order.
const CaseStudy kTorchrec4149 = {
    {.name = "torchrec #4149",
     .graph = kTwoReductions,
     .devices = R"(gpu:0 0 12
       gpu:1 0 12)",
     .declared = kTwoGroups.data(),
     .launch = R"(gpu:0/s feed -> !x0 input 0
       gpu:0/s kernel %p rank 0 (!top0) -> !p0
       gpu:0/t feed -> !z0 input 1
       gpu:0/t kernel %q rank 0 (!low0) -> !q0
       gpu:1/s feed -> !x1 input 0
       gpu:1/s kernel %p rank 1 (!top1) -> !p1
       gpu:1/t feed -> !z1 input 1
       gpu:1/t kernel %q rank 1 (!low1) -> !q1
       gpu:0/s collective %r rank 0 !p0 -> !p0 group 0
       gpu:0/s record ev0
       gpu:0/t wait ev0
       gpu:0/t collective %s rank 0 !q0 -> !q0 group 1
       gpu:1/t collective %s rank 1 !q1 -> !q1 group 1
       gpu:1/t record ev1
       gpu:1/s wait ev1
       gpu:1/s collective %r rank 1 !p1 -> !p1 group 0
       gpu:0/s fetch !p0 output 0
       gpu:0/t fetch !q0 output 1)"},
    "plan @f: command 8 and command 15 are commands of one collective, but "
    "other "
    "commands are between them in launch order; those may wait for the first "
    "and block the last"};

// pypto #2397: both ranks send, and then wait for the other's message. The
// scheduler put each wait before its own rank's send.
const CaseStudy kPypto2397 = {
    {.name = "pypto #2397",
     .graph = kSentBothWays,
     .devices = R"(gpu:0 0 8
       gpu:1 0 8)",
     .declared = R"(input x i8[2]
       input z i8[2]
       output there i8[2]
       output back i8[2]
       arena gpu:0
         !x 0 2
         !a 2 2
         !back 4 2
         !slot0 6 2
       arena gpu:1
         !z 0 2
         !b 2 2
         !there 4 2
         !slot1 6 2
       channel 0 gpu:0/s -> gpu:1/s capacity 1 slots (!slot1)
       channel 1 gpu:1/s -> gpu:0/s capacity 1 slots (!slot0))",
     .launch = R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !a
       gpu:1/s feed -> !z input 1
       gpu:1/s kernel %b (!z) -> !b
       gpu:0/s recv %back -> !back channel 1
       gpu:0/s send %there !a channel 0
       gpu:1/s recv %there -> !there channel 0
       gpu:1/s send %back !b channel 1
       gpu:0/s fetch !back output 1
       gpu:1/s fetch !there output 0)"},
    "plan @f: command 4 receives message 0 of channel 1, which command 7 "
    "sends later in launch order; launch the send first"};

// torchtitan #4064: a collective runs on the caller's stream, not on the stream
// of its communicator.
const CaseStudy kTorchtitan4064 = {
    {.name = "torchtitan #4064",
     .graph = R"(graph @f(%x: i8[2, 2]) -> i8[2] {
  %p = reduce_sum %x {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %r = copy %p : i8[2] on {gpu:0, gpu:1} (partial sum) -> (replicated)
  return %r
})",
     .devices = R"(gpu:0 0 6
       gpu:1 0 6)",
     .declared = R"(input x i8[2, 2]
       output r i8[2]
       arena gpu:0
         !x0 0 4
         !top0 0 2
         !p0 4 2
       arena gpu:1
         !x1 0 4
         !top1 2 2
         !p1 4 2
       stream gpu:0/comm
       group 0 (gpu:0/comm, gpu:1/comm))",
     .launch = R"(gpu:0/compute feed -> !x0 input 0
       gpu:0/compute kernel %p rank 0 (!top0) -> !p0
       gpu:1/comm feed -> !x1 input 0
       gpu:1/comm kernel %p rank 1 (!top1) -> !p1
       gpu:0/compute collective %r rank 0 !p0 -> !p0 group 0
       gpu:1/comm collective %r rank 1 !p1 -> !p1 group 0
       gpu:0/compute fetch !p0 output 0)"},
    "plan @f: command 4 on gpu:0/compute is a collective of group 0, whose "
    "ranks do not include that stream; move it to a rank's stream or use "
    "another group"};

// Megatron #5240: each pair of ranks creates its communicator at its first
// communication, and the ranks communicate with their neighbours in different
// orders.
const CaseStudy kMegatron5240 = {
    {.name = "Megatron #5240",
     .graph =
         R"(graph @f(%x: i8[2], %y: i8[2] on gpu:1, %z: i8[2] on gpu:2) -> (i8[2], i8[2], i8[2]) {
  %a = copy %x : i8[2] on gpu:1
  %b = copy %y : i8[2] on gpu:2
  %c = copy %z : i8[2] on gpu:0
  return %a, %b, %c
})",
     .devices = R"(gpu:0 0 4
       gpu:1 0 4
       gpu:2 0 4)",
     .declared = R"(input x i8[2]
       input y i8[2]
       input z i8[2]
       output a i8[2]
       output b i8[2]
       output c i8[2]
       arena gpu:0
         !x 0 2
         !c 2 2
       arena gpu:1
         !y 0 2
         !a 2 2
       arena gpu:2
         !z 0 2
         !b 2 2
       channel 0 gpu:0/s -> gpu:1/s capacity 0
       channel 1 gpu:1/s -> gpu:2/s capacity 0
       channel 2 gpu:2/s -> gpu:0/s capacity 0)",
     .launch = R"(gpu:0/s feed -> !x input 0
       gpu:1/s feed -> !y input 1
       gpu:2/s feed -> !z input 2
       gpu:0/s send %a !x channel 0
       gpu:1/s send %b !y channel 1
       gpu:2/s send %c !z channel 2
       gpu:1/s recv %a -> !a channel 0
       gpu:2/s recv %b -> !b channel 1
       gpu:0/s recv %c -> !c channel 2
       gpu:1/s fetch !a output 0
       gpu:2/s fetch !b output 1
       gpu:0/s fetch !c output 2)"},
    "plan @f: command 3 and command 6 are the two sides of a message without a "
    "slot, "
    "but other commands are between them in launch order; those may wait for "
    "the first and block the last"};

// XLA #49155: two bodies are queued on one asynchronous stream. The second was
// captured into a graph that runs on the main stream, where nothing waits for
// the first.
const CaseStudy kXla49155 = {
    {.name = "XLA #49155",
     .graph = R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %b = abs %a : i8[2] on gpu:0
  return %b as y
})",
     .devices = "gpu:0 0 6",
     .declared = R"(input x i8[2]
       output y i8[2]
       arena gpu:0
         !x 0 2
         !a 2 2
         !b 4 2)",
     .launch = R"(gpu:0/main feed -> !x input 0
       gpu:0/main record ev0
       gpu:0/async wait ev0
       gpu:0/async kernel %a (!x) -> !a
       gpu:0/main kernel %b (!a) -> !b
       gpu:0/async record ev1
       gpu:0/main wait ev1
       gpu:0/main fetch !b output 0)"},
    "plan @f: command 4 reads gpu:0 !a (bytes 2..4) while command 3 may still "
    "write it\n  no event orders gpu:0/async before gpu:0/main; record an "
    "event after command 3 and wait for it before command 4"};

// tt-metal #54590: a wait for one exact value of a counter that goes on
// counting. An event that is recorded again is such a counter.
const CaseStudy kTtMetal54590 = {
    {.name = "tt-metal #54590",
     .graph = R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  return %a as y
})",
     .devices = "gpu:0 0 4",
     .declared = R"(input x i8[2]
       output y i8[2]
       arena gpu:0
         !x 0 2
         !a 2 2)",
     .launch = R"(gpu:0/s feed -> !x input 0
       gpu:0/s record ev0
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/s record ev0
       gpu:0/out wait ev0
       gpu:0/out fetch !a output 0)"},
    "plan @f: command 3 records ev0, which command 1 has recorded; a wait "
    "could pass too early; use another event"};

constexpr const CaseStudy* kAll[] = {&kTorchrec4149,   &kPypto2397,
                                     &kTorchtitan4064, &kMegatron5240,
                                     &kXla49155,       &kTtMetal54590};

class RecentCaseStudies : public testing::TestWithParam<const CaseStudy*> {};

TEST_P(RecentCaseStudies, IsRefusedInWords) {
  EXPECT_EQ(RefusalOf(*GetParam()), GetParam()->message)
      << GetParam()->plan.name;
}

// The faults are real: a machine shows the harm of each.
TEST_P(RecentCaseStudies, AMachineShowsTheHarm) {
  const CaseStudy& study = *GetParam();
  EXPECT_TRUE(Judge(PlanOf(study.plan), 0).harmful()) << study.plan.name;
}

INSTANTIATE_TEST_SUITE_P(All, RecentCaseStudies, testing::ValuesIn(kAll));

}  // namespace
}  // namespace partita
