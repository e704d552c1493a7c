// Tests messages in plans: values, failures, chaos, devices whose memory the
// host cannot access.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "runtime/device/host_device.h"
#include "runtime/device/late_device.h"
#include "runtime/executor/plan_builder.h"
#include "runtime/executor/test_session.h"

namespace partita {
namespace {

// Five messages from device 0 to device 1, each x + x; device 1 adds them up.
constexpr int kMessages = 5;
std::shared_ptr<Plan> MessagePlan(int capacity, int depth,
                                  DeviceKind device_kind = DeviceKind::kCpu) {
  PlanBuilder b(2, device_kind);
  b.entry().depth = depth;
  const ValueId x = b.Input("x", Line());
  const StreamId here = b.NewStream("here", 0);
  const StreamId there = b.NewStream("there", 1);
  const BufferId x_bytes = b.Room("x", 0, x);
  std::vector<BufferId> slots;
  for (int i = 0; i < capacity; ++i) slots.push_back(b.Room("slot", 1, x));
  const ChannelId channel = b.NewChannel(here, there, slots);
  b.Feed(here, 0, x_bytes);
  ValueId sum;
  BufferId sum_bytes;
  for (int k = 0; k < kMessages; ++k) {
    const ValueId made = b.Node(kAdd, {x, x}, absl::StrCat("made", k));
    const ValueId sent = b.Node(kCopy, {made}, absl::StrCat("sent", k));
    const ValueId next =
        k == 0 ? sent : b.Node(kAdd, {sum, sent}, absl::StrCat("sum", k));
    const BufferId made_bytes = b.Room("made", 0, made);
    const BufferId sent_bytes = b.Room("sent", 1, sent);
    b.Kernel(here, made, {x_bytes, x_bytes}, made_bytes);
    b.Send(here, sent, made_bytes, channel);
    b.Recv(there, sent, sent_bytes, channel);
    if (k > 0) b.Kernel(there, next, {sum_bytes, sent_bytes}, sent_bytes);
    sum = next;
    sum_bytes = sent_bytes;
  }
  b.Output("y", sum);
  b.Fetch(there, 0, sum_bytes);
  return b.Finish();
}

Floats TenTimes(Floats x) {
  for (float& value : x) value *= 2 * kMessages;
  return x;
}

TEST(Messages, ArriveInOrderWhateverTheCapacity) {
  for (const int capacity : {0, 1, 2, 7}) {
    for (const int depth : {1, 2}) {
      TestSession session(MessagePlan(capacity, depth), RunOn::kVirtual);
      ASSERT_TRUE(session.status().ok()) << session.status();
      for (uint64_t step = 0; step < 30; ++step) {
        Floats y;
        ASSERT_TRUE(session.Run(Ramp(step), y, {.chaos_seed = step}).ok());
        ASSERT_EQ(y, TenTimes(Ramp(step))) << capacity << " " << step;
      }
    }
  }
}

// One thread feeds both ends.
TEST(Messages, PassBetweenDevicesThatRunBehindTheHost) {
  for (const int capacity : {0, 1, 2, 7}) {
    TestSession session(MessagePlan(capacity, 1, DeviceKind::kCuda),
                        RunOn::kLate);
    ASSERT_TRUE(session.status().ok()) << session.status();
    for (uint64_t step = 0; step < 10; ++step) {
      Floats y;
      ASSERT_TRUE(session.Run(Ramp(step), y, {.chaos_seed = step}).ok());
      ASSERT_EQ(y, TenTimes(Ramp(step))) << capacity << " " << step;
    }
  }
}

// The streams of the CPU run no kernels: x goes there, and y comes back.
std::shared_ptr<Plan> ThereAndBackPlan(int capacity) {
  PlanBuilder b(2);
  b.plan().devices[1].traits.kind = DeviceKind::kCuda;
  const ValueId x = b.Input("x", Line());
  const ValueId there = b.Node(kCopy, {x}, "there");
  const ValueId twice = b.Node(kAdd, {there, there}, "twice");
  const ValueId y = b.Node(kCopy, {twice}, "y");
  b.Output("y", y);
  const StreamId out = b.NewStream("out", 0);
  const StreamId compute = b.NewStream("compute", 1);
  const StreamId in = b.NewStream("in", 0);
  const auto channel = [&](StreamId from, StreamId to, int device) {
    std::vector<BufferId> slots;
    for (int i = 0; i < capacity; ++i) slots.push_back(b.Room("s", device, x));
    return b.NewChannel(from, to, slots);
  };
  const ChannelId to_gpu = channel(out, compute, 1);
  const ChannelId to_cpu = channel(compute, in, 1);
  const BufferId x0 = b.Room("x", 0, x);
  const BufferId there1 = b.Room("there", 1, there);
  const BufferId twice1 = b.Room("twice", 1, twice);
  const BufferId y0 = b.Room("y", 0, y);
  b.Feed(out, 0, x0);
  b.Send(out, there, x0, to_gpu);
  b.Recv(compute, there, there1, to_gpu);
  b.Kernel(compute, twice, {there1, there1}, twice1);
  b.Send(compute, y, twice1, to_cpu);
  b.Recv(in, y, y0, to_cpu);
  b.Fetch(in, 0, y0);
  return b.Finish();
}

TEST(Messages, ACpuSendsToAndReceivesFromMemoryThatItCannotAccess) {
  for (const int capacity : {0, 1}) {
    const std::shared_ptr<Plan> plan = ThereAndBackPlan(capacity);
    Devices devices;
    devices.push_back(NewCpuDevice(plan->devices[0].traits));
    devices.push_back(std::make_unique<LateDevice>(plan->devices[1].traits));
    TestSession session(plan, std::move(devices));
    ASSERT_TRUE(session.status().ok()) << session.status();
    for (int step = 0; step < 5; ++step) {
      Floats expected = Ramp(step);
      for (float& value : expected) value *= 2;
      Floats y;
      ASSERT_TRUE(session.Run(Ramp(step), y).ok());
      ASSERT_EQ(y, expected) << capacity;
    }
  }
}

TEST(Messages, AFailureWakesSenderAndReceiver) {
  for (const int capacity : {0, 1}) {
    for (const std::string name : {"made3", "sum2"}) {
      TestSession session(MessagePlan(capacity, 1));
      Floats y;
      session.library.before_launch = [&](const OpView& node) {
        return node.result(0).name() == name
                   ? absl::UnavailableError("injected")
                   : absl::OkStatus();
      };
      ASSERT_EQ(session.Run(Ramp(1), y).code(), absl::StatusCode::kUnavailable);
      session.library.before_launch = nullptr;
      ASSERT_TRUE(session.Run(Ramp(2), y).ok());
      EXPECT_EQ(y, TenTimes(Ramp(2)));
    }
  }
}

TEST(Messages, AMessageWithoutAReceiverIsRefused) {
  const auto plan = MessagePlan(1, 1);
  auto& commands = plan->entries[0].programs[0].commands;
  std::erase_if(commands, [](const Command& command) {
    return command.kind == Command::Kind::kRecv;
  });
  TestSession session(plan);
  EXPECT_EQ(session.status().code(), absl::StatusCode::kInvalidArgument)
      << session.status();
}

}  // namespace
}  // namespace partita
