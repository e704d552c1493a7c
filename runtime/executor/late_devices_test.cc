// Runs plans on devices that run behind the host and have memory of their own.
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "runtime/device/host_device.h"
#include "runtime/device/late_device.h"
#include "runtime/executor/plan_builder.h"
#include "runtime/executor/reference_run.h"
#include "runtime/executor/test_session.h"

namespace partita {
namespace {

// y = relu(x): device 0 copies x to device 1, which computes.
std::shared_ptr<Plan> CopiedPlan() {
  PlanBuilder b(2);
  const ValueId x = b.Input("x", Line());
  const ValueId there = b.Node(kCopy, {x}, "there");
  const ValueId y = b.Node(kRelu, {there}, "y");
  b.Output("y", y);
  const StreamId out = b.NewStream("out", 0);
  const StreamId compute = b.NewStream("compute", 1);
  const BufferId x0 = b.Room("x", 0, x);
  const BufferId x1 = b.Room("there", 1, there);
  const BufferId y1 = b.Room("y", 1, y);
  const EventId copied = b.NewEvent();
  b.Feed(out, 0, x0);
  b.Copy(out, x0, x1);
  b.Record(out, copied);
  b.Wait(compute, copied);
  b.Kernel(compute, y, {x1}, y1);
  b.Fetch(compute, 0, y1);
  return b.Finish();
}

// While the device is held, its commands are issued and none is done.
TEST(LateDevices, KernelsWaitForCopiesOfADeviceThatRunsBehindTheHost) {
  const std::shared_ptr<Plan> plan = CopiedPlan();
  auto late = std::make_unique<LateDevice>(plan->devices[0].traits);
  LateDevice& device = *late;
  Devices devices;
  devices.push_back(std::move(late));
  devices.push_back(NewCpuDevice(plan->devices[1].traits));
  TestSession session(plan, std::move(devices));
  ASSERT_TRUE(session.status().ok()) << session.status();
  std::atomic<bool> held = false;
  session.library.before_launch = [&](const OpView&) {
    return held ? absl::InternalError("launched too early") : absl::OkStatus();
  };
  for (int step = 0; step < 5; ++step) {
    held = true;
    device.Hold();
    Floats y;
    const Floats x = Ramp(step);
    auto number = session.Submit(x, y);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    held = false;
    device.Release();
    ASSERT_TRUE(number.ok()) << number.status();
    ASSERT_TRUE(session->Wait(*number).ok());
    ASSERT_EQ(y, x);  // no element is negative
  }
}

// The device is held while the step is issued: fed bytes were staged before,
// and fetched bytes are delivered after its work.
TEST(LateDevices, FeedsAndFetchesPassThroughStagingMemory) {
  const auto plan = FourStreamPlan(/*depth=*/2, DeviceKind::kCuda);
  Devices devices = NewDevices(*plan, RunOn::kLate);
  std::vector<LateDevice*> late;
  for (const auto& device : devices) {
    late.push_back(static_cast<LateDevice*>(device.get()));
  }
  TestSession session(plan, std::move(devices));
  ASSERT_TRUE(session.status().ok()) << session.status();
  for (int step = 0; step < 5; ++step) {
    for (LateDevice* device : late) device->Hold();
    const Floats first = Ramp(step), second = Ramp(step + 100);
    Floats y0, y1;
    const auto submitted = session.Submit(first, y0);
    const auto next = session.Submit(second, y1);
    for (LateDevice* device : late) device->Release();
    ASSERT_TRUE(submitted.ok() && next.ok());
    ASSERT_TRUE(session->Wait(*submitted).ok());
    EXPECT_EQ(y0, Expected(first));
    ASSERT_TRUE(session->Wait(*next).ok());
    EXPECT_EQ(y1, Expected(second));
  }
  for (const LateDevice* device : late) {
    EXPECT_EQ(device->pageable_copies(), 0) << device->traits().name;
  }
}

// The stream of the copy is the CPU's in the plan.
TEST(LateDevices, CopiesFromACpuAreIssuedByTheDeviceThatReceivesThem) {
  const std::shared_ptr<Plan> plan = CopiedPlan();
  plan->devices[1].traits.kind = DeviceKind::kCuda;
  Devices devices;
  devices.push_back(NewCpuDevice(plan->devices[0].traits));
  devices.push_back(std::make_unique<LateDevice>(plan->devices[1].traits));
  TestSession session(plan, std::move(devices));
  ASSERT_TRUE(session.status().ok()) << session.status();
  for (int step = 0; step < 5; ++step) {
    Floats y;
    const Floats x = Ramp(step);
    ASSERT_TRUE(session.Run(x, y).ok());
    ASSERT_EQ(y, x);  // no element is negative
  }
}

TEST(LateDevices, AStreamDoesNotRunKernelsOfACpuAndCopiesToOtherMemory) {
  PlanBuilder b(2);
  b.plan().devices[1].traits.kind = DeviceKind::kCuda;
  const ValueId x = b.Input("x", Line());
  const ValueId positive = b.Node(kRelu, {x}, "positive");
  const ValueId y = b.Node(kCopy, {positive}, "y");
  b.Output("y", y);
  const StreamId both = b.NewStream("both", 0);
  const BufferId x0 = b.Room("x", 0, x);
  const BufferId y1 = b.Room("y", 1, y);
  b.Feed(both, 0, x0);
  b.Kernel(both, positive, {x0}, x0);
  b.Copy(both, x0, y1);
  const std::shared_ptr<Plan> plan = b.Finish();
  Devices devices;
  devices.push_back(NewCpuDevice(plan->devices[0].traits));
  devices.push_back(std::make_unique<LateDevice>(plan->devices[1].traits));
  const TestSession session(plan, std::move(devices));
  EXPECT_EQ(session.status(),
            absl::UnimplementedError("entry @f: found kernels in stream both, "
                                     "which copies from or to cpu:1; "
                                     "expected them in another stream"));
}

TEST(LateDevices, HostKernelsAreNotBoundToMemoryThatTheHostCannotAccess) {
  const std::shared_ptr<Plan> plan = CopiedPlan();
  Devices devices;
  devices.push_back(NewCpuDevice(plan->devices[0].traits));
  devices.push_back(std::make_unique<LateDevice>(plan->devices[1].traits));
  const TestSession session(plan, std::move(devices));
  EXPECT_EQ(session.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(session.status().message().find(absl::StrCat(
                "found kernels of the host on ", plan->devices[1].traits.name)),
            absl::string_view::npos)
      << session.status();
}

// No library binds for the host: each node runs on its own device.
TEST(LateDevices, NodesOfDevicesOutOfTheHostsReachHaveTheirReferenceThere) {
  const auto plan = FourStreamPlan(1, DeviceKind::kCuda);
  TestSession session(plan, RunOn::kLate);
  ASSERT_TRUE(session.status().ok()) << session.status();
  const Floats x = Ramp(-4);
  Floats y;
  ASSERT_TRUE(session.Run(x, y).ok());
  EXPECT_EQ(y, Expected(x));
  const void* in = x.data();
  std::atomic<int> launches = 0;
  session.library.before_launch = [&](const OpView&) {
    ++launches;
    return absl::OkStatus();
  };
  const auto reference = ReferenceRun(*plan, 0, {&in, 1}, session->libraries(),
                                      {.devices = session->devices()});
  ASSERT_TRUE(reference.ok()) << reference.status();
  EXPECT_EQ(launches, 3);
  const absl::Span<const float> found = (*reference)[0].data<float>();
  EXPECT_EQ(Floats(found.begin(), found.end()), y);
  EXPECT_EQ(ReferenceRun(*plan, 0, {&in, 1}, session->libraries()).status(),
            absl::FailedPreconditionError(
                "reference run of @f: add %sum: found it on gpu:0, whose "
                "kernels the host cannot launch; expected that device, or "
                "kernels of the host that emulate it"));
}

}  // namespace
}  // namespace partita
