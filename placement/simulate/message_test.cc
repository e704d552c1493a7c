// Tests when sends and receives start and end, with times computed by hand.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "placement/simulate/memory_curve.h"
#include "placement/simulate/simulate.h"
#include "placement/simulate/testing/plan_writer.h"

namespace partita {
namespace {

constexpr int64_t kSecond = 10'000'000'000;  // bytes per second of a link

#define EXPECT_TIMES(simulated, from, to)         \
  do {                                            \
    EXPECT_NEAR((simulated).start, (from), 1e-9); \
    EXPECT_NEAR((simulated).end, (to), 1e-9);     \
  } while (false)

// Two devices with one stream each, and messages of one second from one to the
// other.
struct Pair {
  explicit Pair(int capacity) : p(machine) {
    a = p.Stream(0);
    b = p.Stream(1);
    channel = p.Channel(a, b, capacity, kSecond, kSecond);
    from = p.Buffer(0, kSecond);
    to = p.Buffer(1, kSecond);
  }
  CommandId Send() { return p.Send(a, from, channel); }
  CommandId Recv() { return p.Recv(b, to, channel); }

  Machine machine = EqualCpus(2, 1000);
  PlanWriter p;
  StreamId a, b;
  ChannelId channel;
  BufferId from, to;
};

TEST(Messages, WithoutASlotTheSenderWaitsForItsReceiver) {
  Pair pair(0);
  pair.machine.links[0].latency = 0.25;
  pair.p.Kernel(pair.a, 1);    // 0
  pair.Send();                 // 1
  pair.p.Kernel(pair.a, 1);    // 2
  pair.p.Kernel(pair.b, 2);    // 3
  pair.Recv();                 // 4
  pair.p.Kernel(pair.b, 0.5);  // 5
  const absl::StatusOr<Simulation> result = pair.p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(1)], 2, 3.25);
  EXPECT_TIMES(result->commands[CommandId(4)], 2, 3.25);
  EXPECT_TIMES(result->commands[CommandId(2)], 3.25, 4.25);
  EXPECT_TIMES(result->commands[CommandId(5)], 3.25, 3.75);
  // The kernel before the recv delays the sender.
  EXPECT_EQ(result->critical_path, CommandIds({3, 1, 2}));
  EXPECT_EQ(result->busy, std::vector<double>({2, 2.5}));
}

TEST(Messages, WithoutASlotTheReceiverWaitsForItsSender) {
  Pair pair(0);
  pair.Recv();               // 0
  pair.p.Kernel(pair.b, 1);  // 1
  pair.p.Kernel(pair.a, 2);  // 2
  pair.Send();               // 3
  const absl::StatusOr<Simulation> result = pair.p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(3)], 2, 3);
  EXPECT_TIMES(result->commands[CommandId(0)], 2, 3);
  EXPECT_EQ(result->critical_path, CommandIds({2, 3, 0, 1}));
}

// Three messages. The receiver takes the first at 5 s and computes for a second
// after each.
Simulation ThreeMessages(int capacity) {
  Pair pair(capacity);
  for (int k = 0; k < 3; ++k) pair.Send();  // 0, 1, 2
  pair.p.Kernel(pair.b, 5);                 // 3
  for (int k = 0; k < 3; ++k) {             // 4, 6, 8
    pair.Recv();
    pair.p.Kernel(pair.b, 1);  // 5, 7, 9
  }
  const absl::StatusOr<Simulation> result = pair.p.Run();
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(Simulation{});
}

TEST(Messages, WithoutASlotEveryMessageIsARendezvous) {
  const Simulation result = ThreeMessages(0);
  EXPECT_TIMES(result.commands[CommandId(0)], 5, 6);
  EXPECT_TIMES(result.commands[CommandId(4)], 5, 6);
  EXPECT_TIMES(result.commands[CommandId(1)], 7, 8);
  EXPECT_TIMES(result.commands[CommandId(6)], 7, 8);
  EXPECT_TIMES(result.commands[CommandId(2)], 9, 10);
  EXPECT_TIMES(result.commands[CommandId(8)], 9, 10);
  EXPECT_EQ(result.latency_seconds, 11);
}

TEST(Messages, OneSlotLetsTheSenderRunOneAhead) {
  const Simulation result = ThreeMessages(1);
  EXPECT_TIMES(result.commands[CommandId(0)], 0, 1);
  EXPECT_TIMES(result.commands[CommandId(4)], 5, 5);  // arrived long before
  EXPECT_TIMES(result.commands[CommandId(1)], 5,
               6);  // not before: the slot was full
  EXPECT_EQ(result.commands[CommandId(1)].cause, CommandId(4));
  EXPECT_TIMES(result.commands[CommandId(6)], 6, 6);
  EXPECT_TIMES(result.commands[CommandId(2)], 6, 7);
  EXPECT_TIMES(result.commands[CommandId(8)], 7, 7);
  EXPECT_EQ(result.latency_seconds, 8);
}

TEST(Messages, TwoSlotsLetItRunTwoAhead) {
  const Simulation result = ThreeMessages(2);
  EXPECT_TIMES(result.commands[CommandId(0)], 0, 1);
  EXPECT_TIMES(result.commands[CommandId(1)], 1, 2);
  EXPECT_TIMES(result.commands[CommandId(2)], 5, 6);
  EXPECT_EQ(result.commands[CommandId(2)].cause, CommandId(4));
  EXPECT_TIMES(result.commands[CommandId(4)], 5, 5);
  EXPECT_TIMES(result.commands[CommandId(6)], 6, 6);
  EXPECT_TIMES(result.commands[CommandId(8)], 7, 7);
  EXPECT_EQ(result.latency_seconds, 8);
}

TEST(Messages, AWaitingReceiverWaitsOnlyForTheBytes) {
  Pair pair(1);
  pair.p.Kernel(pair.b, 0.5);  // 0
  pair.Recv();                 // 1
  pair.Send();                 // 2
  pair.p.Kernel(pair.a, 0.5);  // 3
  pair.Send();                 // 4
  pair.Recv();                 // 5
  const absl::StatusOr<Simulation> result = pair.p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(2)], 0, 1);
  EXPECT_TIMES(result->commands[CommandId(1)], 0.5,
               1);  // half of the bytes have arrived
  EXPECT_EQ(result->commands[CommandId(1)].cause, CommandId(2));
  EXPECT_TIMES(result->commands[CommandId(4)], 1.5, 2.5);
  EXPECT_TIMES(result->commands[CommandId(5)], 1.5, 2.5);
  EXPECT_EQ(result->commands[CommandId(5)].cause, CommandId(4));
  EXPECT_EQ(result->critical_path, CommandIds({2, 3, 4}));
}

TEST(Messages, ShareTheirLinkWithCopies) {
  Pair pair(1);
  const StreamId copies = pair.p.Stream(0);
  pair.Send();                                                         // 0
  pair.p.Copy(copies, pair.from, pair.p.Buffer(1, kSecond, kSecond));  // 1
  pair.Recv();                                                         // 2
  const absl::StatusOr<Simulation> result = pair.p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(0)], 0, 2);
  EXPECT_TIMES(result->commands[CommandId(1)], 0, 2);
  EXPECT_TIMES(result->commands[CommandId(2)], 0, 2);
}

TEST(Messages, BetweenStreamsOfADeviceStayInItsMemory) {
  const Machine machine = EqualCpus(1, 1000);
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(0);
  const ChannelId channel = p.Channel(a, b, 0);
  p.Send(a, p.Buffer(0, kSecond), channel);
  p.Recv(b, p.Buffer(0, kSecond, kSecond), channel);
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(1)], 0,
               0.2);  // twice 1e10 bytes at 1e11
}

// Two messages of one second each, and a kernel of three seconds between their
// receives. With slots for each step, the messages of the next step have
// arrived when the kernel of the previous step ends.
TEST(Messages, OverlappingStepsHaveTheirOwnSlots) {
  for (int depth : {1, 2}) {
    Pair pair(1);
    pair.Send();
    pair.Send();
    pair.Recv();
    pair.p.Kernel(pair.b, 3);
    pair.Recv();
    pair.p.entry().depth = depth;
    const absl::StatusOr<Simulation> result = pair.p.Run();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR(result->latency_seconds, 4, 1e-9);
    EXPECT_NEAR(result->step_seconds, depth == 1 ? 4 : 3, 1e-9);
  }
}

TEST(Messages, SlotsFillFromTheSendToTheRecv) {
  Pair pair(2);
  pair.p.Kernel(pair.a, 1, {}, {pair.from});
  pair.Send();
  pair.Send();
  pair.p.Kernel(pair.b, 4);
  pair.Recv();
  pair.p.Kernel(pair.b, 1, {pair.to}, {});
  pair.Recv();
  pair.p.Kernel(pair.b, 1, {pair.to}, {});
  const absl::StatusOr<Simulation> result = pair.p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  const auto curves = MemoryCurves(pair.p.plan(), 0, *result);
  ASSERT_TRUE(curves.ok()) << curves.status();
  std::string text;
  for (const MemoryPoint& point : (*curves)[1]) {
    absl::StrAppend(&text, point.time, ":", point.bytes / kSecond, " ");
  }
  // One slot from 1 to 4, the other from 2 to 5; the received bytes until 6.
  EXPECT_EQ(text, "0:0 1:1 2:2 4:2 5:1 6:0 ");
}

TEST(Messages, WithoutTheOtherEndNeverEnd) {
  Pair lonely(1);
  lonely.Recv();
  EXPECT_EQ(lonely.p.Run().status().message(),
            "plan @p: command 0: found a recv that never ends; expected a "
            "plan that the checker accepts");
  Pair unheard(0);
  unheard.Send();
  EXPECT_EQ(unheard.p.Run().status().message(),
            "plan @p: command 0: found a send that never ends; expected a "
            "plan that the checker accepts");
  Pair full(1);
  for (int k = 0; k < 2; ++k) full.Send();
  EXPECT_EQ(full.p.Run().status().message(),
            "plan @p: command 1: found a send that never ends; expected a "
            "plan that the checker accepts");
}

TEST(Messages, WithoutALinkOrAChannelAreRefused) {
  Pair apart(0);
  apart.machine.links.clear();
  apart.Send();
  apart.Recv();
  EXPECT_EQ(apart.p.Run().status().message(),
            "plan @p: command 0: found a message from cpu:0 to cpu:1 and no "
            "link between them in machine sample; expected one; simulate on "
            "the machine that the plan is for");
  Pair wild(0);
  wild.p.Send(wild.a, wild.from, ChannelId(1));
  EXPECT_EQ(wild.p.Run().status().message(),
            "plan @p: command 0: found an id that does not exist; expected a "
            "plan that the checker accepts");
}

}  // namespace
}  // namespace partita
