// Builds the plans of tests and runs them.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/test_session.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/ops/op_list.h"
#include "runtime/device/host_device.h"
#include "runtime/device/late_device.h"
#include "runtime/executor/plan_builder.h"

namespace partita {
namespace {

bool IsLate(const std::unique_ptr<Device>& device) {
  return dynamic_cast<const LateDevice*>(device.get()) != nullptr;
}

std::unique_ptr<Device> NewLateDevice(DeviceTraits traits) {
  return std::make_unique<LateDevice>(std::move(traits));
}

}  // namespace

TensorType Line() { return {DType::kF32, {kElements}, {}}; }

Floats Ramp(float start) {
  Floats values(kElements);
  for (int i = 0; i < kElements; ++i) values[i] = start + 0.5f * i;
  return values;
}

std::shared_ptr<Plan> OneStreamPlan() {
  PlanBuilder b(1);
  const ValueId x = b.Input("x", Line());
  ValueId w;
  const BufferId w_bytes =
      b.Constant("w", 0, HostTensor::Of<float>({kElements}, Ramp(-9)), w);
  const ValueId sum = b.Node(kAdd, {x, w}, "sum");
  const ValueId positive = b.Node(kRelu, {sum}, "positive");
  const ValueId y = b.Node(kMul, {positive, x}, "y");
  b.Output("y", y);
  const StreamId s = b.NewStream("compute", 0);
  const BufferId x_bytes = b.Room("x", 0, x);
  const BufferId sum_bytes = b.Room("sum", 0, sum);
  const BufferId y_bytes = b.Room("y", 0, y);
  b.Feed(s, 0, x_bytes);
  b.Kernel(s, sum, {x_bytes, w_bytes}, sum_bytes);
  b.Kernel(s, positive, {sum_bytes}, sum_bytes);  // in place
  b.Kernel(s, y, {sum_bytes, x_bytes}, y_bytes);
  b.Fetch(s, 0, y_bytes);
  return b.Finish();
}

std::shared_ptr<Plan> FourStreamPlan(int depth, DeviceKind kind) {
  PlanBuilder b(2, kind);
  b.entry().depth = depth;
  const ValueId x = b.Input("x", Line());
  ValueId w;
  const BufferId w_bytes =
      b.Constant("w", 0, HostTensor::Of<float>({kElements}, Ramp(-9)), w);
  const ValueId sum = b.Node(kAdd, {x, w}, "sum");
  const ValueId sum_there = b.Node(kCopy, {sum}, "sum_there");
  const ValueId x_there = b.Node(kCopy, {x}, "x_there");
  const ValueId positive = b.Node(kRelu, {sum_there}, "positive");
  const ValueId y = b.Node(kMul, {positive, x_there}, "y");
  b.Output("y", y);
  const StreamId compute0 = b.NewStream("compute", 0);
  const StreamId out = b.NewStream("out", 0);
  const StreamId compute1 = b.NewStream("compute", 1);
  const StreamId back = b.NewStream("back", 1);
  const BufferId x0 = b.Room("x", 0, x);
  const BufferId sum0 = b.Room("sum", 0, sum);
  const BufferId x1 = b.Room("x_there", 1, x);
  const BufferId sum1 = b.Room("sum_there", 1, sum);
  const BufferId y1 = b.Room("y", 1, y);
  const EventId summed = b.NewEvent();
  const EventId copied = b.NewEvent();
  const EventId multiplied = b.NewEvent();
  b.Feed(compute0, 0, x0);                       // 0
  b.Kernel(compute0, sum, {x0, w_bytes}, sum0);  // 1
  b.Record(compute0, summed);                    // 2
  b.Wait(out, summed);                           // 3
  b.Copy(out, sum0, sum1);                       // 4
  b.Copy(out, x0, x1);                           // 5
  b.Record(out, copied);                         // 6
  b.Wait(compute1, copied);                      // 7
  b.Kernel(compute1, positive, {sum1}, sum1);    // 8
  b.Kernel(compute1, y, {sum1, x1}, y1);         // 9
  b.Record(compute1, multiplied);                // 10
  b.Wait(back, multiplied);                      // 11
  b.Fetch(back, 0, y1);                          // 12
  return b.Finish();
}
std::shared_ptr<Plan> CounterPlan() {
  PlanBuilder b(1);
  const ValueId x = b.Input("x", Line());
  ValueId v;
  const BufferId v_bytes =
      b.Variable("v", 0, HostTensor::Of<float>({kElements}, Ramp(0)), v);
  const ValueId next = b.Node(kAdd, {v, x}, "next");
  b.Output("y", next);
  b.graph().AddUpdate({"v", next});
  const StreamId s = b.NewStream("compute", 0);
  const BufferId x_bytes = b.Room("x", 0, x);
  b.Feed(s, 0, x_bytes);
  b.Kernel(s, next, {v_bytes, x_bytes}, v_bytes);
  b.Fetch(s, 0, v_bytes);
  return b.Finish();
}

Floats Expected(const Floats& x) {
  const Floats w = Ramp(-9);
  Floats y(kElements);
  for (int i = 0; i < kElements; ++i) {
    y[i] = std::max(x[i] + w[i], 0.0f) * x[i];
  }
  return y;
}

Devices NewDevices(const Plan& plan, RunOn run_on) {
  const auto new_device = run_on == RunOn::kCpu       ? NewCpuDevice
                          : run_on == RunOn::kVirtual ? NewVirtualDevice
                          : run_on == RunOn::kLate    ? NewLateDevice
                                                      : NewTimedDevice;
  Devices devices;
  for (const PlanDevice& device : plan.devices) {
    devices.push_back(new_device(device.traits));
  }
  return devices;
}

TestSession::TestSession(std::shared_ptr<Plan> plan, RunOn run_on)
    : TestSession(plan, NewDevices(*plan, run_on)) {}

TestSession::TestSession(std::shared_ptr<Plan> plan, Devices devices) {
  KernelLibraries libraries = {&library};
  if (absl::c_any_of(devices, IsLate)) libraries.push_back(&late_library);
  auto executor =
      Executor::New(std::move(plan), std::move(devices), std::move(libraries));
  status_ = executor.status();
  if (executor.ok()) executor_ = *std::move(executor);
}

absl::Status TestSession::Run(const Floats& x, Floats& y,
                              const RunOptions& options) {
  y.assign(kElements, -1);
  const void* in = x.data();
  void* out = y.data();
  return executor_->Run(0, {{&in, 1}, {&out, 1}}, options);
}

absl::StatusOr<uint64_t> TestSession::Submit(const Floats& x, Floats& y,
                                             const RunOptions& options) {
  y.assign(kElements, -1);
  const void* in = x.data();
  void* out = y.data();
  return executor_->Submit(0, {{&in, 1}, {&out, 1}}, options);
}

}  // namespace partita
