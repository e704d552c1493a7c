// Each fault has its own message: a finding states which of several things is
// wrong, with the names of the plan's text.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "graph/ops/op_set.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/checker/testing/plan_description.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

std::string SaidOfBase(absl::string_view name, const TextChanges& changes) {
  return CheckerVerdict(changes, TextOf(BasePlanNamed(name)));
}

// The first finding in a base plan with one change.
std::string FoundIn(absl::string_view name, void (*change)(Plan& plan)) {
  auto plan = ParsePlan(TextOf(BasePlanNamed(name)), "f", OpSet::BuiltIn());
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return "";
  change(*plan);
  const std::vector<Finding> findings = FindFaults(*plan);
  return findings.empty() ? "proved" : findings[0].message;
}

constexpr absl::string_view kReduce = "all_reduce of partial sums";

TEST(Words, ARankOfAGroupIsThatOfItsNode) {
  EXPECT_EQ(SaidOfBase(kReduce, {}), "proved");
  EXPECT_EQ(
      SaidOfBase(kReduce, {{"(gpu:0/s, gpu:1/s)", "(gpu:1/s, gpu:0/s)"}}),
      "plan @f: command 5 is rank 1 of copy %r on gpu:1/s, which is rank 0 "
      "of group 0; expected one number; list the group's streams in the order "
      "of the node's ranks\nplan @f: command 4 is rank 0 of copy %r on "
      "gpu:0/s, which is rank 1 of group 0; expected one number; list the "
      "group's streams in the order of the node's ranks");
}

TEST(Words, ACollectiveOfAnotherMicroBatchIsNamed) {
  EXPECT_EQ(
      FoundIn(kReduce,
              [](Plan& plan) {
                for (Command& command : plan.entries[0].programs[0].commands) {
                  if (command.kind == Command::Kind::kCollective &&
                      command.instance.rank == 1) {
                    command.instance.micro_batch = MicroBatchId(1);
                  }
                }
              }),
      "plan @f: command 5 is collective 0 of rank 1 of group 0 and does copy "
      "%r batch 1 rank 1, but command 4 is that of rank 0 and does copy "
      "%r; every rank must issue the same sequence");
}

constexpr absl::string_view kSlot = "a channel of one slot";

TEST(Words, AChannelIsNamedByItsStreams) {
  EXPECT_EQ(SaidOfBase(kSlot, {}), "proved");
  EXPECT_EQ(SaidOfBase(kSlot, {{"capacity 1", "capacity 2"}}),
            "plan @f: channel 0 gpu:0/s -> gpu:1/s: found capacity 2 and 1 "
            "slot; expected one for each message that it holds; list as many "
            "slots as the capacity");
  EXPECT_EQ(FoundIn(kSlot,
                    [](Plan& plan) {
                      Channel& channel = plan.entries[0].channels[0];
                      channel.receiver = channel.sender;
                    }),
            "plan @f: channel 0 gpu:0/s -> gpu:0/s: found one stream at both "
            "ends; expected two; name another");
  EXPECT_EQ(FoundIn(kSlot,
                    [](Plan& plan) {
                      plan.entries[0].channels[0].sender = StreamId(7);
                    }),
            "plan @f: channel 0 stream 7 -> gpu:1/s: found stream 7; expected "
            "one of the 2 that the entry has; name another");
  EXPECT_EQ(FoundIn(kSlot,
                    [](Plan& plan) {
                      plan.entries[0].channels[0].slots[0] = BufferId(70);
                    }),
            "plan @f: channel 0 gpu:0/s -> gpu:1/s: found buffer 70 as a slot; "
            "expected one of the 6 that the entry has; name another");
}

TEST(Words, AStreamIsInAGroupOnce) {
  EXPECT_EQ(FoundIn(kReduce,
                    [](Plan& plan) {
                      auto& ranks = plan.entries[0].groups[0].ranks;
                      ranks[1] = ranks[0];
                    }),
            "plan @f: group 0: found gpu:0/s twice; expected each rank to be "
            "another stream; name each stream once");
  EXPECT_EQ(FoundIn(kReduce,
                    [](Plan& plan) {
                      plan.entries[0].groups[0].ranks[1] = StreamId(9);
                    }),
            "plan @f: group 0: found stream 9; expected one of the 2 that the "
            "entry has; name another");
}

TEST(Words, AMessageSlotOverlapsNoOtherBuffer) {
  EXPECT_EQ(SaidOfBase(kSlot, {{"slots (!slot)", "slots (!ca)"}}),
            "plan @f: found the message slot gpu:1 !ca as a buffer of "
            "commands, too; expected a message slot to be its channel's alone; "
            "use bytes of its own");
  EXPECT_EQ(SaidOfBase(kSlot, {{"slots (!slot)", "slots (!x)"}}),
            "plan @f: found the message slot gpu:0 !x as a buffer of commands, "
            "too; expected a message slot to be its channel's alone; use bytes "
            "of its own");
  EXPECT_EQ(SaidOfBase(kSlot, {{"!slot 4 2", "!slot 3 2"}}),
            "plan @f: found gpu:1 !cb over the message slot gpu:1 !slot; "
            "expected a message slot to be its channel's alone; use bytes of "
            "its own");
  EXPECT_EQ(SaidOfBase(kSlot, {{"capacity 1 slots (!slot)",
                                "capacity 2 slots (!slot, !slot)"}}),
            "plan @f: found the message slot gpu:1 !slot for two messages; "
            "expected a message slot to be its channel's alone; use bytes of "
            "its own");
}

TEST(Words, AMessageHasOneValueAndSize) {
  EXPECT_EQ(SaidOfBase(kSlot, {{"send %ca !a", "send %cb !a"}}),
            "plan @f: command 4 receives message 0 of channel 0 as copy %ca, "
            "which command 2 sends as copy %cb; give both one node");
  EXPECT_EQ(SaidOfBase(kSlot, {{"!x 0 2\n", "!x 0 2\n!short 2 1\n"},
                               {"send %ca !a", "send %ca !short"}}),
            "plan @f: command 4 receives message 0 of channel 0 as 2 bytes, "
            "which command 2 sends as 1; give both as many");
}

std::string SaidOfPersistent(void (*change)(PersistentValue& value)) {
  static void (*changed)(PersistentValue & value);
  changed = change;
  return FoundIn("two layers on two devices",
                 [](Plan& plan) { changed(plan.entries[0].persistent[0]); });
}

TEST(Words, APersistentValueSaysWhatDoesNotExist) {
  EXPECT_EQ(SaidOfPersistent(
                [](PersistentValue& value) { value.buffer = BufferId(99); }),
            "plan @f: persistent value in an unknown buffer: found buffer 99; "
            "expected "
            "one of the 6 that exist; name another");
  EXPECT_EQ(
      SaidOfPersistent([](PersistentValue& value) { value.node = NodeId(99); }),
      "plan @f: persistent value gpu:0 !w1: found node 99; expected one of the "
      "6 that exist; name another");
  EXPECT_EQ(
      SaidOfPersistent([](PersistentValue& value) { value.rank = 3; }),
      "plan @f: persistent value gpu:0 !w1: found rank 3 of constant %w1, "
      "which is on 1 device; expected a smaller number; change the rank");
  EXPECT_EQ(SaidOfPersistent(
                [](PersistentValue& value) { value.initial = LiteralId(99); }),
            "plan @f: persistent value gpu:0 !w1: found literal 99; expected "
            "one of the 2 that exist; name another");
}

TEST(Words, APersistentValueIsAConstantOrVariableOfThePersistentPart) {
  EXPECT_EQ(
      FoundIn("two layers on two devices",
              [](Plan& plan) {
                Entry& entry = plan.entries[0];
                entry.persistent[0].node = entry.graph->order().back();
              }),
      "plan @f: persistent value gpu:0 !w1: found add %y; expected a constant "
      "or variable, as no other value outlasts a step; name one");
  EXPECT_EQ(FoundIn("two layers on two devices",
                    [](Plan& plan) {
                      Entry& entry = plan.entries[0];
                      for (int b = 0; b < 20; ++b) {
                        if (entry.buffers[b].persistent) continue;
                        entry.persistent[0].buffer = BufferId(b);
                        return;
                      }
                    }),
            "plan @f: persistent value gpu:0 !x: found a buffer of the "
            "step-local part; expected one of the persistent part, as others "
            "are used again; move it");
}

}  // namespace
}  // namespace partita
