// The executor's overhead: a chain of trivial ops on one stream, and one that
// changes streams at every op.
// SPDX-License-Identifier: Apache-2.0

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "graph/ops/op_list.h"
#include "runtime/device/host_device.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/plan_builder.h"

namespace partita {
namespace {

constexpr int kOps = 1000;

// A kernel that does as little as possible.
class EmptyKernel : public Kernel {
 public:
  absl::Status Launch(const LaunchArgs& args) override {
    benchmark::DoNotOptimize(args.operands.data());
    return absl::OkStatus();
  }
};

class EmptyLibrary : public KernelLibrary {
 public:
  absl::string_view name() const override { return "test"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest&) const override {
    return BoundKernel{std::make_unique<EmptyKernel>(), "test.empty",
                       Arithmetic(),
                       /*in_place=*/{{0, 0}}};
  }
};

// relu(relu(...)), in place, on streams in turn; with several streams, an event
// between every two ops.
std::shared_ptr<Plan> ChainPlan(int streams) {
  PlanBuilder b(1);
  ValueId value = b.Input("x", {DType::kF32, {16}, {}});
  std::vector<StreamId> ids;
  for (int s = 0; s < streams; ++s) {
    ids.push_back(b.NewStream("compute" + std::to_string(s), 0));
  }
  const BufferId bytes = b.Room("x", 0, value);
  b.Feed(ids[0], 0, bytes);
  for (int i = 0; i < kOps; ++i) {
    value = b.Node(kRelu, {value}, "y" + std::to_string(i));
    const StreamId stream = ids[i % streams];
    b.Kernel(stream, value, {bytes}, bytes);
    if (streams == 1) continue;
    const EventId event = b.NewEvent();
    b.Record(stream, event);
    b.Wait(ids[(i + 1) % streams], event);
  }
  b.Output("y", value);
  b.Fetch(ids[kOps % streams], 0, bytes);
  return b.Finish();
}

void RunChain(benchmark::State& state) {
  auto plan = ChainPlan(static_cast<int>(state.range(0)));
  const EmptyLibrary library;
  Devices devices;
  devices.push_back(NewCpuDevice(plan->devices[0].traits));
  auto executor = Executor::New(plan, std::move(devices), {&library});
  if (!executor.ok()) {
    state.SkipWithError(executor.status().ToString().c_str());
    return;
  }
  std::vector<float> x(16), y(16);
  const void* in = x.data();
  void* out = y.data();
  for (auto _ : state) {
    const absl::Status status = (*executor)->Run(0, {{&in, 1}, {&out, 1}});
    if (!status.ok()) state.SkipWithError(status.ToString().c_str());
  }
  state.counters["per_op"] =
      benchmark::Counter(kOps, benchmark::Counter::kIsIterationInvariantRate |
                                   benchmark::Counter::kInvert);
}
BENCHMARK(RunChain)->ArgName("streams")->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
}  // namespace partita

BENCHMARK_MAIN();
