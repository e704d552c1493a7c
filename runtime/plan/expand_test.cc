// Tests of schedules, slots and arena arithmetic.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <limits>

#include "runtime/plan/plan.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

BufferId BufferSlot(int k) { return BufferId(kFirstSlot + k); }
EventId EventSlot(int k) { return EventId(kFirstSlot + k); }

// One program of a kernel and a record, with two buffer slots and one event
// slot, invoked for micro-batches 0 and 1.
Entry TwoMicroBatches() {
  Entry entry;
  entry.name = "f";
  entry.buffers.resize(5);
  entry.streams.resize(1);
  entry.num_events = 2;
  Command kernel;
  kernel.stream = StreamId(0);
  kernel.instance = {NodeId(7), 1};
  kernel.operands = {BufferId(4), BufferSlot(0)};
  kernel.results = {BufferSlot(1)};
  kernel.workspace = BufferSlot(0);
  Command record;
  record.kind = Command::Kind::kRecord;
  record.stream = StreamId(0);
  record.event = EventSlot(0);
  entry.programs.push_back({"fwd", 2, 1, {kernel, record}});
  entry.schedule.push_back({ProgramId(0),
                            MicroBatchId(0),
                            {BufferId(0), BufferId(1)},
                            {EventId(0)}});
  entry.schedule.push_back({ProgramId(0),
                            MicroBatchId(1),
                            {BufferId(2), BufferId(3)},
                            {EventId(1)}});
  return entry;
}

std::string ErrorOf(const Entry& entry) {
  return std::string(Expand(entry).status().message());
}

TEST(Expand, EachInvocationBindsItsOwnSlots) {
  absl::StatusOr<CommandList> commands = Expand(TwoMicroBatches());
  ASSERT_TRUE(commands.ok()) << commands.status();
  ASSERT_EQ(commands->size(), 4u);
  const Command& second = (*commands)[CommandId(2)];
  EXPECT_EQ(second.operands, (std::vector<BufferId>{BufferId(4), BufferId(2)}));
  EXPECT_EQ(second.results, std::vector<BufferId>{BufferId(3)});
  EXPECT_EQ(second.workspace, BufferId(2));
  EXPECT_EQ(second.instance, (Instance{NodeId(7), 1, MicroBatchId(1)}));
  EXPECT_EQ((*commands)[CommandId(1)].event, EventId(0));
  EXPECT_EQ((*commands)[CommandId(3)].event, EventId(1));
}

TEST(Expand, RefusesAProgramThatDoesNotExist) {
  Entry entry = TwoMicroBatches();
  entry.schedule[1].program = ProgramId(3);
  EXPECT_EQ(ErrorOf(entry),
            "entry @f: invocation 1: found program 3; expected one of the "
            "entry's 1 programs");
}

TEST(Expand, RefusesAnInvocationThatBindsTooFewSlots) {
  Entry entry = TwoMicroBatches();
  entry.schedule[0].buffers.pop_back();
  EXPECT_EQ(ErrorOf(entry),
            "entry @f: invocation 0: found 1 buffers; expected one for each of "
            "the program's 2 slots");
}

TEST(Expand, RefusesASlotThatNoInvocationBinds) {
  Entry entry = TwoMicroBatches();
  entry.programs[0].commands[0].operands[0] = BufferSlot(2);
  EXPECT_EQ(ErrorOf(entry),
            "program fwd: command 0: found buffer slot 2; expected one of the "
            "2 that the invocation binds");
}

TEST(Expand, RefusesASlotBoundToASlot) {
  Entry entry = TwoMicroBatches();
  entry.schedule[1].events[0] = EventSlot(0);
  EXPECT_EQ(ErrorOf(entry),
            "entry @f: invocation 1: found an event slot; expected one of the "
            "entry's own events");
}

TEST(Expand, RefusesASmallScheduleOfEndlessCommands) {
  Entry entry;
  entry.name = "f";
  entry.programs.push_back({"p", 0, 0, std::vector<Command>(1 << 12)});
  entry.schedule.resize((1 << 10) + 1);
  EXPECT_EQ(ErrorOf(entry),
            "entry @f: invocation 1024: found more than 4194304 commands in "
            "one step; expected a schedule of fewer; lower the micro-batches");
}

TEST(PlanLayout, StepsAlternateBetweenTheCopiesOfTheArena) {
  Plan plan;
  plan.devices.push_back({});
  plan.devices[0].persistent_bytes = 1000;
  plan.devices[0].step_bytes = 64;
  Entry entry;
  entry.depth = 2;
  Buffer local{"a", DeviceId(0), {16, 8, 2, 16}, false};
  Buffer weight{"w", DeviceId(0), {16, 8, 1, 0}, true};
  EXPECT_EQ(AbsoluteRange(plan, entry, local, 0), (Range{1016, 8, 2, 16}));
  EXPECT_EQ(AbsoluteRange(plan, entry, local, 3), (Range{1080, 8, 2, 16}));
  EXPECT_EQ(AbsoluteRange(plan, entry, weight, 3), (Range{16, 8, 1, 0}));
  EXPECT_EQ(ArenaBytes(plan.devices[0], 2), 1128);
  EXPECT_EQ(ArenaBytes({.step_bytes = int64_t{1} << 62}, 4),
            std::numeric_limits<int64_t>::max());
}

TEST(PlanLayout, ACommandReadsOperandsAndWritesResultsAndWorkspace) {
  const Entry entry = TwoMicroBatches();
  const std::vector<Access> accesses =
      Accesses(entry, (*Expand(entry))[CommandId(0)]);
  ASSERT_EQ(accesses.size(), 4u);
  EXPECT_EQ(accesses[1].kind, Access::Kind::kRead);
  EXPECT_EQ(accesses[2].kind, Access::Kind::kWrite);
  EXPECT_EQ(accesses[2].buffer, BufferId(1));
  EXPECT_EQ(accesses[3].kind, Access::Kind::kUndefined);
}

}  // namespace
}  // namespace partita
