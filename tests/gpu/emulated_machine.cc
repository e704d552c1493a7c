// Builds a small plan, and the machine to run it on.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/emulated_machine.h"

#include <cmath>
#include <iterator>
#include <utility>

#include "graph/core_ops.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "gtest/gtest.h"
#include "kernels/codegen/read_program.h"
#include "kernels/cuda/trusted_ptx.h"
#include "kernels/gpu/ptx_catalog.h"
#include "placement/machine/sample_machines.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/host_device.h"
#include "runtime/executor/plan_builder.h"
#include "third_party/cuda_loader/process_driver.h"

namespace partita {
namespace {

using emulated_gpu::EmulatedCuda;
using emulated_gpu::Order;

constexpr int64_t kRows = 16;
constexpr int64_t kInner = 24;
constexpr int64_t kColumns = 20;

std::vector<float> Waves(int64_t count, float step) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(step * static_cast<float>(i));
  }
  return values;
}

void BindPtx(Graph& graph, ValueId value, const char* kernel) {
  KernelBinding binding;
  binding.kernel = kernel;
  binding.arithmetics = {PtxArithmetic()};
  graph.node(graph.value(value).defining_node).kernel = binding;
}

// This process built the code, so it may run.
void BuildCodeFor(const Plan& plan) {
  DeviceTraits gpu = plan.devices[0].traits;
  const Graph& graph = *plan.entries[0].graph;
  std::vector<OpView> nodes;
  for (const OpView& node : graph.ops()) {
    if (HasPtxKernel(node)) nodes.push_back(node);
  }
  const auto code_objects = PtxCatalog().BuildCode(nodes, gpu);
  ASSERT_TRUE(code_objects.ok()) << code_objects.status();
  for (const CodeObject& code : *code_objects) {
    ASSERT_TRUE(TrustPtx(code).ok());
  }
}

}  // namespace

EmulatedMachine::EmulatedMachine(
    const emulated_gpu::EmulatedGpuOptions& options)
    : cuda_(EmulatedCuda::New(options).value()) {
  SetProcessDriver(&cuda_->api());
}

EmulatedMachine::~EmulatedMachine() { SetProcessDriver(nullptr); }

std::vector<std::string> EmulatedMachine::Faults() {
  std::vector<std::string> faults;
  for (const emulated_gpu::Finding& finding : cuda_->findings()) {
    faults.push_back(TextOf(finding));
  }
  for (const emulated_gpu::Finding& leak : cuda_->leaks()) {
    faults.push_back(TextOf(leak));
  }
  CUcontext current = nullptr;
  if (api().CtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) {
    faults.push_back("leak: the thread still has a context");
  }
  return faults;
}

Order OrderOf(uint64_t seed) {
  constexpr Order kOrders[] = {Order::kRandom,
                               Order::kOldestStreamFirst,
                               Order::kYoungestStreamFirst,
                               Order::kStarveOneStream,
                               Order::kLateWaits,
                               Order::kAtOnce};
  return seed < std::size(kOrders) ? kOrders[seed] : Order::kRandom;
}

Machine NewGpus(int gpus, int64_t gpu_memory) {
  Machine machine = CpuAndGpus(gpus, gpu_memory);
  const std::string cpu = machine.devices[0].traits.name;
  machine.devices.erase(machine.devices.begin());
  for (MachineDevice& device : machine.devices) device.traits.isa = "sm_90";
  std::erase_if(machine.links, [&](const Link& link) {
    return link.from == cpu || link.to == cpu;
  });
  return machine;
}

PtxPlan MatmulSoftmaxPlan(int gpus, std::optional<int> capacity) {
  PlanBuilder b(gpus, DeviceKind::kCuda);
  for (PlanDevice& device : b.plan().devices) device.traits.isa = "sm_90";
  const int last = gpus - 1;
  const ValueId x = b.Input("x", {DType::kF32, {kRows, kInner}, {}});
  ValueId w, bias;
  const BufferId w_bytes = b.Constant(
      "w", 0,
      HostTensor::Of<float>({kInner, kColumns}, Waves(kInner * kColumns, 0.7f)),
      w);
  const BufferId bias_bytes = b.Constant(
      "bias", last, HostTensor::Of<float>({kColumns}, Waves(kColumns, 0.3f)),
      bias);
  const ValueId product = b.Node(kMatmul, {x, w}, "product");
  const ValueId there = b.Node(kCopy, {product}, "there");
  const ValueId shifted = b.Node(kAdd, {there, bias}, "shifted");
  const ValueId positive = b.Node(kRelu, {shifted}, "positive");
  const ValueId y = b.Node(kSoftmax, {positive}, "y");
  b.Output("y", y);
  BindPtx(b.graph(), product, "ptx.indices");
  BindPtx(b.graph(), shifted, "ptx.elementwise");
  BindPtx(b.graph(), positive, "ptx.elementwise");
  BindPtx(b.graph(), y, "ptx.rows");
  const StreamId compute = b.NewStream("compute", 0);
  const StreamId copies = b.NewStream("copy", 0);
  const StreamId rest = b.NewStream("compute", last);
  const BufferId x0 = b.Room("x", 0, x);
  const BufferId product0 = b.Room("product", 0, product);
  const BufferId there1 = b.Room("there", last, there);
  const BufferId shifted1 = b.Room("shifted", last, shifted);
  const BufferId y1 = b.Room("y", last, y);
  const EventId multiplied = b.NewEvent();
  b.Feed(compute, 0, x0);
  b.Kernel(compute, product, {x0, w_bytes}, product0);
  b.Record(compute, multiplied);
  b.Wait(copies, multiplied);
  if (capacity.has_value()) {
    std::vector<BufferId> slots;
    for (int i = 0; i < *capacity; ++i) {
      slots.push_back(b.Room("slot", last, there));
    }
    const ChannelId channel = b.NewChannel(copies, rest, slots);
    b.Send(copies, there, product0, channel);
    b.Recv(rest, there, there1, channel);
  } else {
    const EventId copied = b.NewEvent();
    b.Copy(copies, product0, there1);
    b.Record(copies, copied);
    b.Wait(rest, copied);
  }
  b.Kernel(rest, shifted, {there1, bias_bytes}, shifted1);
  b.Kernel(rest, positive, {shifted1}, shifted1);  // in place
  b.Kernel(rest, y, {shifted1}, y1);
  b.Fetch(rest, 0, y1);
  PtxPlan plan = {b.Finish(), Waves(kRows * kInner, 0.1f)};
  BuildCodeFor(*plan.plan);
  return plan;
}

PtxPlan CpuAndGpuPlan() {
  PtxPlan plan = MatmulSoftmaxPlan(1);  // for its code of relu
  PlanBuilder b(2, DeviceKind::kCuda);
  PlanDevice& cpu = b.plan().devices[0];
  cpu.traits.name = "cpu:0";
  cpu.traits.kind = DeviceKind::kCpu;
  b.plan().devices[1].traits.isa = "sm_90";
  const ValueId x = b.Input("x", {DType::kF32, {kRows, kColumns}, {}});
  const ValueId twice = b.Node(kAdd, {x, x}, "twice");
  const ValueId there = b.Node(kCopy, {twice}, "there");
  const ValueId positive = b.Node(kRelu, {there}, "positive");
  const ValueId back = b.Node(kCopy, {positive}, "back");
  const ValueId y = b.Node(kAdd, {back, back}, "y");
  b.Output("y", y);
  b.graph().node(b.graph().value(positive).defining_node).kernel->kernel =
      "ptx.elementwise";
  const StreamId compute = b.NewStream("compute", 0);
  const StreamId to_gpu = b.NewStream("copy:gpu:1", 0);
  const StreamId on_gpu = b.NewStream("compute", 1);
  const StreamId to_cpu = b.NewStream("copy:cpu:0", 1);
  const BufferId x0 = b.Room("x", 0, x);
  const BufferId twice0 = b.Room("twice", 0, twice);
  const BufferId there1 = b.Room("there", 1, there);
  const BufferId back0 = b.Room("back", 0, back);
  const BufferId y0 = b.Room("y", 0, y);
  const EventId doubled = b.NewEvent();
  const EventId copied = b.NewEvent();
  const EventId computed = b.NewEvent();
  const EventId returned = b.NewEvent();
  b.Feed(compute, 0, x0);
  b.Kernel(compute, twice, {x0, x0}, twice0);
  b.Record(compute, doubled);
  b.Wait(to_gpu, doubled);
  b.Copy(to_gpu, twice0, there1);
  b.Record(to_gpu, copied);
  b.Wait(on_gpu, copied);
  b.Kernel(on_gpu, positive, {there1}, there1);
  b.Record(on_gpu, computed);
  b.Wait(to_cpu, computed);
  b.Copy(to_cpu, there1, back0);
  b.Record(to_cpu, returned);
  b.Wait(compute, returned);
  b.Kernel(compute, y, {back0, back0}, y0);
  b.Fetch(compute, 0, y0);
  plan.plan = b.Finish();
  plan.x.resize(kRows * kColumns);
  return plan;
}

absl::StatusOr<Devices> DevicesOf(const Plan& plan, const DriverApi& api,
                                  GpuSplit split) {
  Devices devices;
  int gpus = 0;
  for (const PlanDevice& device : plan.devices) {
    if (device.traits.kind == DeviceKind::kCpu) {
      devices.push_back(NewCpuDevice(device.traits));
      continue;
    }
    PARTITA_ASSIGN_OR_RETURN(devices.emplace_back(),
                             NewCudaDevice(api, device.traits, gpus++, split));
  }
  return devices;
}

absl::StatusOr<std::vector<float>> RunStep(Executor& executor,
                                           const std::vector<float>& x,
                                           const RunOptions& options) {
  const TensorType& type = executor.plan().entries[0].outputs[0].type;
  std::vector<float> y(static_cast<size_t>(type.num_elements()), -1);
  const void* in = x.data();
  void* out = y.data();
  PARTITA_RETURN_IF_ERROR(executor.Run(0, {{&in, 1}, {&out, 1}}, options));
  return y;
}

absl::StatusOr<std::vector<float>> RunOnce(const PtxPlan& plan,
                                           const PlanLibraries& libraries,
                                           const DriverApi& api,
                                           const ExecutorOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(Devices devices, DevicesOf(*plan.plan, api));
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Executor> executor,
      Executor::New(plan.plan, std::move(devices), libraries.all, options));
  return RunStep(*executor, plan.x);
}

}  // namespace partita
