// Hostile plans: large plans are checked in bounded time, and no change of any
// field crashes the checker.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/contract.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"

namespace partita {
namespace {

using Kind = Command::Kind;

constexpr ShortPlan kSeed = {"hostile",
                             R"(graph @f(%x: i8[2, 4]) -> i8[2, 4] {
  %a = neg %x : i8[2, 4] on gpu:0 by k {in_place = [0 -> 0]}
  %c = copy %a : i8[2, 4] on {gpu:0, gpu:1} (replicated) -> (split 1)
  %r = copy %c : i8[2, 4] on {gpu:0, gpu:1} (split 1) -> (replicated)
  return %r as y
})",
                             R"(gpu:0 0 64
       gpu:1 0 64)",
                             R"(input x i8[2, 4]
       output y i8[2, 4]
       arena gpu:0
         !x 0 8
         !left 0 2 x 2 every 4
         !right 2 2 x 2 every 4
         !h0 8 4
         !r0 16 8
       arena gpu:1
         !h1 0 4
         !r1 8 8
         !slot 16 8
       group 0 (gpu:0/s, gpu:1/s)
       channel 0 gpu:0/s -> gpu:1/s capacity 1 slots (!slot))",
                             R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !x
       gpu:0/s record ev0
       gpu:0/s copy %c rank 0 !left -> !h0
       gpu:0/s send %c rank 1 !right channel 0
       gpu:1/s recv %c rank 1 -> !h1 channel 0
       gpu:1/s wait ev0
       gpu:0/s collective %r rank 0 !h0 -> !r0 group 0
       gpu:1/s collective %r rank 1 !h1 -> !r1 group 0
       gpu:0/s fetch !r0 output 0)"};

// The work on each plan below is bounded: a quadratic algorithm would end in
// the test's timeout. tests/bench/checker_bench says how long large plans take.

TEST(Hostile, TheSeedIsProved) {
  const std::vector<Finding> findings = FindFaults(PlanOf(kSeed));
  EXPECT_TRUE(findings.empty()) << findings[0].message;
}

TEST(Hostile, AHundredThousandCommandsAreProved) {
  Plan plan = PlanOf(kSeed);
  Entry& entry = plan.entries[0];
  entry.num_events = 100000;
  std::vector<Command>& commands = entry.programs[0].commands;
  for (int s = 0; s < 8; ++s) {
    entry.streams.push_back({absl::StrCat("t", s), DeviceId(0)});
  }
  // Eight streams pass an event round.
  for (int i = 1; i < 33333; ++i) {
    Command record;
    record.kind = Kind::kRecord;
    record.stream = StreamId(2 + (i - 1) % 8);
    record.event = EventId(i);
    Command wait = record;
    wait.kind = Kind::kWait;
    wait.stream = StreamId(2 + i % 8);
    commands.push_back(record);
    commands.push_back(wait);
    commands.push_back(commands[7]);
    commands.back() = record;
    commands.back().event = EventId(40000 + i);
  }
  const std::vector<Finding> findings = FindFaults(plan);
  EXPECT_TRUE(findings.empty()) << findings[0].message;
}

TEST(Hostile, AChainOfWaitsThroughManyStreamsIsProved) {
  Plan plan = PlanOf(kSeed);
  Entry& entry = plan.entries[0];
  constexpr int kStreams = 20000;
  entry.num_events = 1 + kStreams;
  std::vector<Command>& commands = entry.programs[0].commands;
  for (int s = 0; s < kStreams; ++s) {
    entry.streams.push_back({"t", DeviceId(0)});
    Command record;
    record.kind = Kind::kRecord;
    record.stream = StreamId(2 + s);
    record.event = EventId(1 + s);
    Command wait = record;
    wait.kind = Kind::kWait;
    wait.event = EventId(std::max(1, s));
    if (s > 0) commands.push_back(wait);
    commands.push_back(record);
  }
  const std::vector<Finding> findings = FindFaults(plan);
  EXPECT_TRUE(findings.empty()) << findings[0].message;
}

// As many devices as a large machine has: in each round each stream learns what
// another stream knew, so that soon all know all.
TEST(Hostile, ManyStreamsThatKnowOfAllOthersAreProved) {
  Plan plan = PlanOf(kSeed);
  Entry& entry = plan.entries[0];
  constexpr int kStreams = 2048, kRounds = 40;
  std::vector<Command>& commands = entry.programs[0].commands;
  for (int s = 0; s < kStreams; ++s) {
    entry.streams.push_back({"t", DeviceId(0)});
  }
  entry.num_events = 1 + kStreams * kRounds;
  for (int round = 0; round < kRounds; ++round) {
    Command record;
    record.kind = Kind::kRecord;
    for (int s = 0; s < kStreams; ++s) {
      record.stream = StreamId(2 + s);
      record.event = EventId(1 + round * kStreams + s);
      commands.push_back(record);
    }
    Command wait = record;
    wait.kind = Kind::kWait;
    for (int s = 0; s < kStreams; ++s) {
      const int other = (s + (1 << round % 11)) % kStreams;
      wait.stream = StreamId(2 + s);
      wait.event = EventId(1 + round * kStreams + other);
      commands.push_back(wait);
    }
  }
  const std::vector<Finding> findings = FindFaults(plan);
  EXPECT_TRUE(findings.empty()) << findings[0].message;
}

TEST(Hostile, RangesOfManyBlocksAreBounded) {
  Plan plan = PlanOf(kSeed);
  Entry& entry = plan.entries[0];
  plan.devices[0].step_bytes = int64_t{1} << 49;
  plan.devices[0].memory = int64_t{1} << 49;
  for (int b : {1, 2}) {
    entry.buffers[b].range = {0, 1, int64_t{1} << 48, 2};
  }
  EXPECT_FALSE(FindFaults(plan).empty());
}

// Each byte is copied by itself, then all of them together, repeatedly.
TEST(Hostile, ManyReadersOfManyFragmentsAreBounded) {
  constexpr int kFragments = 20000;
  Plan plan = PlanOf(kSeed);
  plan.devices[0].step_bytes = plan.devices[0].memory = 4 * kFragments;
  Entry& entry = plan.entries[0];
  std::vector<Command>& commands = entry.programs[0].commands;
  Command copy = commands[3];
  const auto add_copy = [&](int64_t from, int64_t to, int64_t bytes) {
    for (int64_t offset : {from, to}) {
      entry.buffers.push_back({"b", DeviceId(0), {offset, bytes}, false});
    }
    const int32_t last = static_cast<int32_t>(entry.buffers.size()) - 1;
    copy.operands = {BufferId(last - 1)};
    copy.results = {BufferId(last)};
    commands.push_back(copy);
  };
  for (int i = 0; i < kFragments; ++i) add_copy(i % 8, kFragments + i, 1);
  for (int i = 0; i < kFragments; ++i) {
    add_copy(kFragments, 2 * kFragments, kFragments);
  }
  EXPECT_FALSE(FindFaults(plan).empty());
}

int64_t AnyNumber(std::mt19937_64& random) {
  switch (random() % 6) {
    case 0:
      return static_cast<int64_t>(random());
    case 1:
      return std::numeric_limits<int64_t>::max() - random() % 4;
    case 2:
      return std::numeric_limits<int64_t>::min() + random() % 4;
    case 3:
      return -static_cast<int64_t>(random() % 5);
    case 4:
      return int64_t{1} << random() % 63;
    default:
      return static_cast<int64_t>(random() % 20);
  }
}

void Spoil(Plan& plan, std::mt19937_64& random) {
  Entry& entry = plan.entries[0];
  const auto any = [&] { return static_cast<int32_t>(AnyNumber(random)); };
  std::vector<Command>& commands = entry.programs[0].commands;
  Command& command = commands[random() % commands.size()];
  Buffer& buffer = entry.buffers[random() % entry.buffers.size()];
  switch (random() % 26) {
    case 0:
      command.kind = static_cast<Kind>(random() % 12);
      break;
    case 1:
      command.stream = StreamId(any());
      break;
    case 2:
      command.instance.node = NodeId(any());
      break;
    case 3:
      command.instance.rank = any();
      break;
    case 4:
      command.instance.micro_batch = MicroBatchId(any());
      entry.schedule[0].micro_batch =
          MicroBatchId(random() % 2 == 0 ? 0 : any());
      break;
    case 5:
      command.operands.push_back(BufferId(any()));
      break;
    case 6:
      command.results.push_back(BufferId(any()));
      break;
    case 7:
      command.workspace = BufferId(any());
      break;
    case 8:
      command.event = EventId(any());
      break;
    case 9:
      command.port = any();
      break;
    case 10:
      command.group = GroupId(any());
      break;
    case 11:
      command.channel = ChannelId(any());
      break;
    case 12:
      buffer.device = DeviceId(any());
      break;
    case 13:
      buffer.range.offset = AnyNumber(random);
      break;
    case 14:
      buffer.range.block = AnyNumber(random);
      break;
    case 15:
      buffer.range.count = AnyNumber(random);
      break;
    case 16:
      buffer.range.stride = AnyNumber(random);
      break;
    case 17:
      buffer.persistent = !buffer.persistent;
      break;
    case 18:
      plan.devices[0].step_bytes = AnyNumber(random);
      break;
    case 19:
      plan.devices[0].persistent_bytes = AnyNumber(random);
      break;
    case 20:
      plan.devices[0].memory = AnyNumber(random);
      break;
    case 21:
      entry.depth = any();
      break;
    case 22:
      entry.num_events = any() % 100000;
      break;
    case 23:
      entry.channels[0].capacity = any();
      break;
    case 24:
      entry.groups[0].ranks[0] = StreamId(any());
      break;
    default:
      entry.persistent.push_back(
          {BufferId(any() % 9), NodeId(any() % 9), any(), LiteralId(any())});
  }
}

TEST(Hostile, AnyFieldMayHoldAnything) {
  std::mt19937_64 random(11);
  Plan plan = PlanOf(kSeed);
  const Entry entry = plan.entries[0];
  const std::vector<PlanDevice> devices = plan.devices;
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    for (uint64_t k = 0; k < 1 + random() % 3; ++k) Spoil(plan, random);
    refused += !FindFaults(plan).empty();
    (void)CheckContract(plan, {.threads = 2, .memory = 1 << 20},
                        {DeviceKind::kCpu});
    plan.entries[0] = entry;
    plan.devices = devices;
  }
  EXPECT_GT(refused, 10000);
}

TEST(Hostile, AnEntryWithoutAGraphIsRefused) {
  Plan plan = PlanOf(kSeed);
  plan.entries[0].graph = nullptr;
  EXPECT_EQ(CheckPlan(plan).status().message(),
            "plan @f: found no bound graph of the plan's module; expected "
            "one; name a function that it has");
}

}  // namespace
}  // namespace partita
