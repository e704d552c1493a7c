// Messages name commands, events and bytes as the plan's text does.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "runtime/plan/checker/testing/plan_description.h"

namespace partita {
namespace {

// Three micro-batches in two slots, after eight persistent bytes.
constexpr absl::string_view kPrograms = R"(graph @f(%x: i8[1]) -> i8[1] {
  %a = neg %x : i8[1] on gpu:0
  %c = copy %a : i8[1] on gpu:1
  return %c as y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 8 step 3
  device gpu:1 cuda memory 100
    arena persistent 8 step 1
  entry @f of @f {
    input x i8[3]
    output y i8[3]
    arena gpu:0
      !x 0 1
      !a0 1 1
      !a1 2 1
    arena gpu:1
      !c 0 1
    stream gpu:0/s
    stream gpu:1/s
    program first buffers 1 events 1 {
      stream gpu:0/s
        feed -> !x input 0
        kernel %a (!x) -> $0
        record slot0
    }
    program later buffers 1 events 2 {
      stream gpu:0/s
        feed -> !x input 0
        wait slot1
        kernel %a (!x) -> $0
        record slot0
    }
    program out buffers 1 events 2 {
      stream gpu:1/s
        wait slot0
        copy %c $0 -> !c
        record slot1
        fetch !c output 0
    }
    schedule
      invoke first buffers (!a0) events (ev0)
      invoke first batch 1 buffers (!a1) events (ev1)
      invoke out buffers (!a0) events (ev0, ev2)
      invoke later batch 2 buffers (!a0) events (ev4, ev2)
      invoke out batch 1 buffers (!a1) events (ev1, ev3)
      invoke out batch 2 buffers (!a0) events (ev4, ev5)
  }
}
)";

std::string Of(const TextChanges& changes) {
  return CheckerVerdict(changes, kPrograms);
}

TEST(Places, ARaceIsReportedInTermsOfItsPrograms) {
  EXPECT_EQ(Of({}), "proved");
  EXPECT_EQ(Of({{"        wait slot1\n", ""}}),
            "plan @f: command 1 of program later (invocation 3, batch 2) "
            "writes gpu:0 !a0 (bytes 1..2) while command 1 of program out "
            "(invocation 2) may still read it\n"
            "  no event orders gpu:1/s before gpu:0/s; add `wait slot1` before "
            "command 1 of program later (invocation 3, batch 2)");
}

TEST(Places, AnEventThatNoSlotBindsHasItsNumber) {
  EXPECT_EQ(Of({{"        wait slot1\n", ""}, {"(ev4, ev2)", "(ev4, ev9)"}}),
            "plan @f: command 1 of program later (invocation 3, batch 2) "
            "writes gpu:0 !a0 (bytes 1..2) while command 1 of program out "
            "(invocation 2) may still read it\n"
            "  no event orders gpu:1/s before gpu:0/s; add `wait ev2` before "
            "command 1 of program later (invocation 3, batch 2)");
}

// Otherwise each invocation would wait for the same event.
TEST(Places, AProgramInvokedSeveralTimesNeedsAnotherSlot) {
  const std::string verdict =
      Of({{"        wait slot0\n", ""},
          {"program out buffers 1 events 2", "program out buffers 1 events 1"},
          {"record slot1", "record slot0"},
          {"(ev0, ev2)", "(ev2)"},
          {"(ev1, ev3)", "(ev3)"},
          {"(ev4, ev5)", "(ev5)"}});
  EXPECT_EQ(verdict.substr(0, verdict.find("\nplan")),
            "plan @f: command 0 of program out (invocation 2) reads gpu:0 !a0 "
            "(bytes 1..2) while command 1 of program first (invocation 0) may "
            "still write it\n"
            "  no event orders gpu:0/s before gpu:1/s; give its program "
            "another event slot, bind ev0 to it there, and wait for it before "
            "command 0 of program out (invocation 2)");
}

TEST(Places, EventsHaveTheirSlots) {
  EXPECT_EQ(Of({{"(ev4, ev2)", "(ev4, ev8)"}}),
            "plan @f: command 1 of program later (invocation 3, batch 2) waits "
            "for slot1 (ev8), which no command records; record it, or leave "
            "the wait out");
}

TEST(Places, ValuesAndSizesAreReportedInTermsOfPrograms) {
  EXPECT_EQ(Of({{"feed -> !x input 0\n        wait", "wait"}}),
            "plan @f: command 1 of program later (invocation 3, batch 2) reads "
            "%x from gpu:0 !x (bytes 0..1), but they hold %x bytes 0..1 of "
            "micro-batch 1 and not %x bytes 0..1 of micro-batch 2");
  EXPECT_EQ(Of({{"!a1 2 1", "!a1 1 2"}}),
            "plan @f: command 1 of program first (invocation 1, batch 1) "
            "kernel: found 2 bytes in gpu:0 !a1; expected the 1 of %a: i8[1]; "
            "change the buffer's range\n"
            "plan @f: command 1 of program out (invocation 4, batch 1) copy: "
            "found 2 bytes copied to 1; expected as many; change one of the "
            "ranges");
}

}  // namespace
}  // namespace partita
