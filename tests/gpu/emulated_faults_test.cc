// What goes wrong with GPUs: every call of the driver, memory, code, kernels.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "graph/gpu_split.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "gtest/gtest.h"
#include "kernels/codegen/read_program.h"
#include "kernels/cuda/trusted_ptx.h"
#include "kernels/gpu/ptx_catalog.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/executor/plan_builder.h"
#include "runtime/executor/test_session.h"
#include "tests/gpu/emulated_machine.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {
namespace {

using emulated_gpu::AllPeers;
using emulated_gpu::EmulatedGpuOptions;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DeviceTraits Gpu(const char* isa = "sm_90") {
  DeviceTraits traits;
  traits.name = "gpu:1";
  traits.kind = DeviceKind::kCuda;
  traits.isa = isa;
  return traits;
}

absl::Status NewGpuOn(const EmulatedGpuOptions& options,
                      const DeviceTraits& traits = Gpu()) {
  EmulatedMachine machine(options);
  const absl::Status status =
      NewCudaDevice(machine.api(), traits, /*ordinal=*/1).status();
  EXPECT_THAT(machine.Faults(), IsEmpty());
  return status;
}

TEST(EmulatedFaults, AMachineWithoutTheGpuSaysSo) {
  EXPECT_EQ(NewGpuOn({.gpus = 0}),
            absl::UnavailableError(
                "device gpu:1: found no usable GPU (cuInit: "
                "CUDA_ERROR_NO_DEVICE (100), no CUDA-capable device is "
                "detected); expected those of nvidia-smi"));
  EXPECT_EQ(NewGpuOn({.gpus = 1}),
            absl::UnavailableError(
                "device gpu:1: found 1 GPU; expected a GPU of number 1, from 0 "
                "on"));
  EXPECT_TRUE(absl::IsUnavailable(
      NewGpuOn({.gpus = 3, .visible = std::vector<int>{2}})));
}

TEST(EmulatedFaults, AnOlderGpuThanThePlansIsRefused) {
  const EmulatedGpuOptions a100 = {
      .gpus = 2, .compute_capability_major = 8, .compute_capability_minor = 0};
  EXPECT_EQ(NewGpuOn(a100),
            absl::FailedPreconditionError(
                "device gpu:1: found a GPU of sm_80; expected sm_90 or later, "
                "which the plan is for; compile the model for this machine "
                "(`partita devices`)"));
  EXPECT_TRUE(NewGpuOn(a100, Gpu("sm_80")).ok());
  EXPECT_TRUE(NewGpuOn({.gpus = 2}, Gpu("sm_80")).ok());
}

TEST(EmulatedFaults, AnArenaThatDoesNotFitIsRefusedWithBothFigures) {
  EmulatedMachine machine({.gpus = 2, .bytes_per_gpu = 64 << 20});
  auto device = NewCudaDevice(machine.api(), Gpu(), 1);
  ASSERT_TRUE(device.ok()) << device.status();
  const auto arena = (*device)->NewArena(65 << 20, 64);
  EXPECT_EQ(arena.status(),
            absl::ResourceExhaustedError(
                "device gpu:1: found an arena of 68157440 bytes; expected at "
                "most the 67108864 that are free of 67108864 (cuMemAlloc: "
                "CUDA_ERROR_OUT_OF_MEMORY (2), out of memory)"));
}

// What a session of a plan for two GPUs returns if `replace` has changed calls
// of the driver's table.
absl::Status LoadWith(void (*replace)(DriverApi&)) {
  const PtxPlan plan = MatmulSoftmaxPlan(2);
  EmulatedMachine machine({.gpus = 2, .peers = AllPeers(2)});
  DriverApi api = machine.api();
  replace(api);
  const PlanLibraries libraries;
  const absl::Status status = RunOnce(plan, libraries, api).status();
  EXPECT_THAT(machine.Faults(), IsEmpty());
  return status;
}

TEST(EmulatedFaults, AnObjectThatTheDriverDoesNotMakeIsTheDevices) {
  const absl::Status event = LoadWith([](DriverApi& api) {
    api.EventCreate = [](CUevent*, unsigned) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    };
  });
  EXPECT_EQ(event, absl::ResourceExhaustedError(
                       "device gpu:0: cuEventCreate: "
                       "CUDA_ERROR_OUT_OF_MEMORY (2), out of memory"));
}

// Graphs take memory beside the arena.
TEST(EmulatedFaults, AGraphThatDoesNotFitIsRefusedWithWhatToDo) {
  const absl::Status graph = LoadWith([](DriverApi& api) {
    api.GraphInstantiate = [](CUgraphExec*, CUgraph, unsigned long long) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    };
  });
  EXPECT_EQ(graph,
            absl::ResourceExhaustedError(
                "device gpu:0: found no graph of 7 nodes (cuGraphInstantiate: "
                "CUDA_ERROR_OUT_OF_MEMORY (2), out of memory); expected more "
                "that is free beside the arena: compile for a machine with a "
                "larger `reserve`"));
}

// Loads the plan, runs two steps in flight, and ends the session: the first
// error, or the result of the second step.
absl::StatusOr<std::vector<float>> RunTwoAtOnce(const PtxPlan& plan,
                                                const PlanLibraries& libraries,
                                                const DriverApi& api,
                                                const ExecutorOptions& how) {
  std::vector<float> y[2];
  const void* in = plan.x.data();
  void* out[2];
  for (int step = 0; step < 2; ++step) {
    y[step].resize(static_cast<size_t>(
        plan.plan->entries[0].outputs[0].type.num_elements()));
    out[step] = y[step].data();
  }
  PARTITA_ASSIGN_OR_RETURN(Devices devices, DevicesOf(*plan.plan, api));
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Executor> executor,
      Executor::New(plan.plan, std::move(devices), libraries.all, how));
  PARTITA_ASSIGN_OR_RETURN(const uint64_t first,
                           executor->Submit(0, {{&in, 1}, {&out[0], 1}}));
  // Refused if the first one has failed by then.
  const absl::StatusOr<uint64_t> second =
      executor->Submit(0, {{&in, 1}, {&out[1], 1}});
  PARTITA_RETURN_IF_ERROR(executor->Wait(first));
  PARTITA_RETURN_IF_ERROR(second.status());
  PARTITA_RETURN_IF_ERROR(executor->Wait(*second));
  return y[1];
}

// Loads the plan, runs two traced steps. The first one makes what takes
// the times, and ends the session.
absl::StatusOr<std::vector<float>> RunTraced(const PtxPlan& plan,
                                             const PlanLibraries& libraries,
                                             const DriverApi& api,
                                             const ExecutorOptions& how) {
  PARTITA_ASSIGN_OR_RETURN(Devices devices, DevicesOf(*plan.plan, api));
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Executor> executor,
      Executor::New(plan.plan, std::move(devices), libraries.all, how));
  PARTITA_RETURN_IF_ERROR(RunStep(*executor, plan.x, {.trace = true}).status());
  return RunStep(*executor, plan.x, {.trace = true});
}

// Each call of load, step and end fails once, in turn.
void ExpectThatEachCallMayFail(const PtxPlan& plan, EmulatedGpuOptions options,
                               const ExecutorOptions& how,
                               decltype(&RunTwoAtOnce) run = RunOnce) {
  const PlanLibraries libraries;
  int64_t calls = 0;
  std::vector<float> expected;
  {
    EmulatedMachine machine(options);
    const auto y = run(plan, libraries, machine.api(), how);
    ASSERT_TRUE(y.ok()) << y.status();
    expected = *y;
    calls = machine.cuda().calls();
  }
  ASSERT_GT(calls, 100);
  int failed = 0;
  for (options.fail_call = 1; options.fail_call <= calls; ++options.fail_call) {
    SCOPED_TRACE(options.fail_call);
    EmulatedMachine machine(options);
    const auto y = run(plan, libraries, machine.api(), how);
    if (y.ok()) {
      EXPECT_EQ(*y, expected);
    } else {
      ++failed;
      // Without a context, what needs one fails.
      EXPECT_THAT(std::string(y.status().message()),
                  AnyOf(HasSubstr(absl::StrCat(
                            CudaCodeName(machine.api(), options.fail_with),
                            " (", static_cast<int>(options.fail_with), ")")),
                        HasSubstr("CUDA_ERROR_INVALID_CONTEXT (201)")));
    }
    EXPECT_THAT(machine.Faults(), IsEmpty());
  }
  // Errors of what gives back have nobody to go to.
  EXPECT_GT(failed, calls / 3);
}

TEST(EmulatedFaults, ACallThatFailsLeaksNothingAndHangsNothing) {
  ExpectThatEachCallMayFail(MatmulSoftmaxPlan(2),
                            {.gpus = 2, .peers = AllPeers(2)}, {});
}

TEST(EmulatedFaults, NorDoesOneOfCommandsIssuedOneByOne) {
  ExpectThatEachCallMayFail(MatmulSoftmaxPlan(2),
                            {.gpus = 2, .peers = AllPeers(2)},
                            {.launch_graphs = false});
}

// Graphs, and a message between them.
TEST(EmulatedFaults, NorDoesOneBetweenGraphs) {
  ExpectThatEachCallMayFail(MatmulSoftmaxPlan(2, /*capacity=*/1),
                            {.gpus = 2, .peers = AllPeers(2)}, {});
}

TEST(EmulatedFaults, NorDoesOneWhileTwoStepsAreInFlight) {
  for (const bool graphs : {true, false}) {
    SCOPED_TRACE(graphs);
    const PtxPlan plan = MatmulSoftmaxPlan(2);
    plan.plan->entries[0].depth = 2;
    ExpectThatEachCallMayFail(plan, {.gpus = 2, .peers = AllPeers(2)},
                              {.launch_graphs = graphs}, RunTwoAtOnce);
  }
}

TEST(EmulatedFaults, NorDoesOneOfATracedStep) {
  for (const bool graphs : {true, false}) {
    SCOPED_TRACE(graphs);
    ExpectThatEachCallMayFail(MatmulSoftmaxPlan(2),
                              {.gpus = 2, .peers = AllPeers(2)},
                              {.launch_graphs = graphs}, RunTraced);
  }
}

// A graph copies by way of page-locked memory; and no call finds memory.
TEST(EmulatedFaults, NorDoesOneWithoutMemoryOfGpusThatAreNoPeers) {
  ExpectThatEachCallMayFail(MatmulSoftmaxPlan(2),
                            {.gpus = 2, .fail_with = CUDA_ERROR_OUT_OF_MEMORY},
                            {});
}

// Writes beyond the arena.
class StrayKernel : public Kernel {
 public:
  explicit StrayKernel(std::unique_ptr<Kernel> kernel)
      : kernel_(std::move(kernel)) {}
  absl::Status Launch(const LaunchArgs& args) override {
    void* const beyond = Beyond(args);
    return kernel_->Launch(Stray(args, beyond));
  }
  std::optional<LaunchDescription> Describe(const LaunchArgs& args) override {
    void* const beyond = Beyond(args);
    return kernel_->Describe(Stray(args, beyond));
  }

 private:
  static void* Beyond(const LaunchArgs& args) {
    return static_cast<std::byte*>(args.results[0]) + (int64_t{1} << 30);
  }
  static LaunchArgs Stray(const LaunchArgs& args, void* const& beyond) {
    LaunchArgs stray = args;
    stray.results = {&beyond, 1};
    return stray;
  }

  const std::unique_ptr<Kernel> kernel_;
};

// The kernel of one value strays.
class StrayLibrary : public KernelLibrary {
 public:
  explicit StrayLibrary(absl::string_view value) : value_(value) {}
  absl::string_view name() const override { return "ptx"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override {
    absl::StatusOr<BoundKernel> bound = ptx_.Bind(request);
    if (bound.ok() && request.node.result(0).name() == value_) {
      bound->kernel = std::make_unique<StrayKernel>(std::move(bound->kernel));
    }
    return bound;
  }

 private:
  PtxLibrary ptx_;
  const std::string value_;
};

// How the two devices of the plan are there.
struct StrayMachine {
  EmulatedGpuOptions options = {.gpus = 2, .peers = AllPeers(2)};
  GpuSplit split;
  std::optional<int> capacity;  // MatmulSoftmaxPlan
};

// What a step with a stray kernel returns. Its error is there for good: a next
// step has it too.
absl::Status StrayStep(const ExecutorOptions& options,
                       absl::string_view value = "positive",
                       const StrayMachine& how = {}) {
  const PtxPlan plan = MatmulSoftmaxPlan(2, how.capacity);
  EmulatedMachine machine(how.options);
  absl::Status status;
  {
    const StrayLibrary stray(value);
    auto devices = DevicesOf(*plan.plan, machine.api(), how.split);
    EXPECT_TRUE(devices.ok()) << devices.status();
    auto executor =
        Executor::New(plan.plan, *std::move(devices), {&stray}, options);
    EXPECT_TRUE(executor.ok()) << executor.status();
    status = RunStep(**executor, plan.x).status();
    EXPECT_THAT(std::string(RunStep(**executor, plan.x).status().message()),
                HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  }
  EXPECT_THAT(machine.cuda().leaks(), IsEmpty());
  return status;
}

void ExpectThatCpusCompute() {
  TestSession on_cpu(OneStreamPlan(), RunOn::kCpu);
  Floats y;
  EXPECT_TRUE(on_cpu.Run(Ramp(1), y).ok());
  EXPECT_EQ(y, Expected(Ramp(1)));
}

constexpr char kCommandsOfGpu0[] =
    "gpu:0/compute command 0 feed to command 1 kernel matmul %product, "
    "gpu:0/copy command 4 copy";
constexpr char kCommandsOfGpu1[] =
    "gpu:1/compute command 7 kernel add %shifted to command 10 fetch";
constexpr char kHint[] =
    "; run again with PARTITA_LAUNCH_BLOCKING=1, which names the command";

// By graphs, and one by one.
TEST(EmulatedFaults, AStrayKernelEndsTheSessionAndNotTheProcess) {
  for (const bool graphs : {true, false}) {
    SCOPED_TRACE(graphs);
    const absl::Status status = StrayStep({.launch_graphs = graphs});
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(
        std::string(status.message()),
        AllOf(HasSubstr("entry @f: gpu:1/compute: cuStreamSynchronize: "
                        "CUDA_ERROR_ILLEGAL_ADDRESS (700), "),
              HasSubstr(absl::StrCat("; made by one of these commands of step "
                                     "0: ",
                                     kCommandsOfGpu1, kHint))));
    ExpectThatCpusCompute();
  }
}

TEST(EmulatedFaults, EachKernelMayStray) {
  for (const absl::string_view value :
       {"product", "shifted", "positive", "y"}) {
    SCOPED_TRACE(value);
    const absl::Status status = StrayStep({}, value);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    const bool on_first = value == "product";
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(absl::StrCat(
                          "entry @f: ", on_first ? "gpu:0" : "gpu:1/compute",
                          ": cuStreamSynchronize: ",
                          "CUDA_ERROR_ILLEGAL_ADDRESS (700), ")),
                      HasSubstr(on_first ? kCommandsOfGpu0 : kCommandsOfGpu1),
                      HasSubstr(kHint)));
  }
  ExpectThatCpusCompute();
}

// All devices on the GPU have the error; the driver does not say whose it is.
TEST(EmulatedFaults, AStrayKernelOfASharedGpuMayBeAnyDevices) {
  const absl::Status status =
      StrayStep({}, "positive", {.options = {}, .split = {.shares = 2}});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("entry @f: gpu:0: cuStreamSynchronize: "),
                    HasSubstr(kCommandsOfGpu0), HasSubstr(kCommandsOfGpu1),
                    HasSubstr(kHint)));
}

// The kernel runs at once, and a call behind it has the error: of a command, or
// of the next graph.
TEST(EmulatedFaults, AnErrorOfALaterCallIsNotBlamedOnItsCommand) {
  const EmulatedGpuOptions at_once = {
      .gpus = 2, .peers = AllPeers(2), .order = emulated_gpu::Order::kAtOnce};
  const absl::Status by_command =
      StrayStep({.launch_graphs = false}, "shifted", {.options = at_once});
  EXPECT_EQ(by_command.code(), absl::StatusCode::kUnavailable) << by_command;
  EXPECT_THAT(
      std::string(by_command.message()),
      AllOf(HasSubstr("entry @f: gpu:1/compute: cuStreamSynchronize: "
                      "CUDA_ERROR_ILLEGAL_ADDRESS (700), "),
            HasSubstr(absl::StrCat("; made by one of these commands of step 0: "
                                   "gpu:1/compute command 7 kernel add "
                                   "%shifted to command 8 kernel relu "
                                   "%positive",
                                   kHint))));
  const absl::Status by_graph =
      StrayStep({}, "product", {.options = at_once, .capacity = 1});
  EXPECT_THAT(std::string(by_graph.message()),
              AllOf(HasSubstr("entry @f: gpu:0: cuStreamSynchronize: "),
                    HasSubstr("of step 0: gpu:0/compute command 0 feed to "
                              "command 1 kernel matmul %product"),
                    HasSubstr(kHint)));
}

// PARTITA_LAUNCH_BLOCKING=1; that sessions read it, emulated_sessions_test
// shows.
TEST(EmulatedFaults, BlockingLaunchesNameTheCommandThatFails) {
  const absl::Status status = StrayStep({.launch_blocking = true});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("entry @f: gpu:1/compute: command 8 kernel relu "
                              "%positive: cuStreamSynchronize: "
                              "CUDA_ERROR_ILLEGAL_ADDRESS (700), "),
                    testing::Not(HasSubstr("run again with"))));
  ExpectThatCpusCompute();
}

// The plan's code is for sm_90.
TEST(EmulatedFaults, CodeThatNobodyTrustsIsBuiltAgain) {
  PtxPlan plan = MatmulSoftmaxPlan(1);
  EmulatedMachine machine({});
  const PlanLibraries libraries;
  const auto expected = RunOnce(plan, libraries, machine.api());
  plan.plan->devices[0].traits.isa = "sm_80";
  const auto y = RunOnce(plan, libraries, machine.api());
  ASSERT_TRUE(y.ok() && expected.ok()) << y.status() << expected.status();
  EXPECT_EQ(*y, *expected);
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

TEST(EmulatedFaults, DamagedCodeIsRefusedWithTheCompilersWords) {
  constexpr char kText[] =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry damaged()\n{\nadd.s32 %nowhere, 1;\n}\n";
  CodeObject code = {.target = "sm_90"};
  for (const char c : absl::string_view(kText)) {
    code.bytes.push_back(static_cast<std::byte>(c));
  }
  ASSERT_TRUE(TrustPtx(code).ok());
  ASSERT_TRUE(HasTrustedPtx("sm_90", "damaged"));
  EmulatedMachine machine({.gpus = 2});
  auto device = NewCudaDevice(machine.api(), Gpu(), 1);
  ASSERT_TRUE(device.ok()) << device.status();
  auto stream = (*device)->NewStream().value();
  const int attached = stream->Attach();
  const absl::Status status =
      LoadPtx(machine.api(), "sm_90", {.name = "damaged"}).status();
  stream->Detach(attached);
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("kernel damaged: found code for sm_90 that the driver "
                      "does not load (cuLibraryLoadData; ptx input:6"),
            HasSubstr("compile the model again")));
  EXPECT_EQ(LoadPtx(machine.api(), "sm_90", {.name = "missing"}).status(),
            absl::NotFoundError("found no code of missing for sm_90"));
}

constexpr char kSound[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry sound()
{
ret;
}
)";

// What LoadPtx returns while `replace` has changed calls of the driver's table,
// and whether the text is trusted after that.
struct LoadOutcome {
  absl::Status status;
  bool is_trusted = false;
};
LoadOutcome LoadSoundWith(void (*replace)(DriverApi&)) {
  CodeObject code = {.target = "sm_90"};
  for (const char c : absl::string_view(kSound)) {
    code.bytes.push_back(static_cast<std::byte>(c));
  }
  EXPECT_TRUE(TrustPtx(code).ok());
  EmulatedMachine machine({.gpus = 2});
  LoadOutcome outcome;
  {
    auto device = NewCudaDevice(machine.api(), Gpu(), 1);
    EXPECT_TRUE(device.ok()) << device.status();
    const auto stream = (*device)->NewStream().value();
    const int attached = stream->Attach();
    DriverApi failing = machine.api();
    replace(failing);
    outcome.status = LoadPtx(failing, "sm_90", {.name = "sound"}).status();
    outcome.is_trusted = HasTrustedPtx("sm_90", "sound");
    // Of that driver, the text is not loaded any more: the next load is whole.
    const absl::Status again =
        LoadPtx(machine.api(), "sm_90", {.name = "sound"}).status();
    EXPECT_EQ(again.ok(), outcome.is_trusted) << again;
    stream->Detach(attached);
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
  return outcome;
}

template <CUresult kResult>
void FailLibraryLoad(DriverApi& api) {
  api.LibraryLoadData = [](CUlibrary*, const void*, CUjit_option*, void**,
                           unsigned, CUlibraryOption*, void**,
                           unsigned) { return kResult; };
}
template <CUresult kResult>
void FailGetKernel(DriverApi& api) {
  api.LibraryGetKernel = [](CUkernel*, CUlibrary, const char*) {
    return kResult;
  };
}
template <CUresult kResult>
void FailGetFunction(DriverApi& api) {
  api.KernelGetFunction = [](CUfunction*, CUkernel) { return kResult; };
}
template <CUresult kResult>
void FailFuncLoad(DriverApi& api) {
  api.FuncLoad = [](CUfunction) { return kResult; };
}
template <CUresult kResult>
void FailParamInfo(DriverApi& api) {
  api.KernelGetParamInfo = [](CUkernel, size_t, size_t*, size_t*) {
    return kResult;
  };
}

// Each call of a load, with errors that say nothing about the text.
TEST(EmulatedFaults, AnErrorOfTheDriverDoesNotRefuseCode) {
  for (const auto& replace :
       {FailLibraryLoad<CUDA_ERROR_UNKNOWN>,
        FailLibraryLoad<CUDA_ERROR_OUT_OF_MEMORY>,
        FailLibraryLoad<CUDA_ERROR_JIT_COMPILER_NOT_FOUND>,
        FailLibraryLoad<CUDA_ERROR_JIT_COMPILATION_DISABLED>,
        FailLibraryLoad<CUDA_ERROR_CONTEXT_IS_DESTROYED>,
        FailGetKernel<CUDA_ERROR_UNKNOWN>,
        FailGetKernel<CUDA_ERROR_OUT_OF_MEMORY>,
        FailParamInfo<CUDA_ERROR_UNKNOWN>,
        FailGetFunction<CUDA_ERROR_INVALID_CONTEXT>,
        FailGetFunction<CUDA_ERROR_ILLEGAL_ADDRESS>,
        FailFuncLoad<CUDA_ERROR_UNKNOWN>,
        FailFuncLoad<CUDA_ERROR_OUT_OF_MEMORY>}) {
    const LoadOutcome outcome = LoadSoundWith(replace);
    SCOPED_TRACE(outcome.status);
    EXPECT_TRUE(outcome.is_trusted);
    EXPECT_THAT(std::string(outcome.status.message()),
                AllOf(HasSubstr("kernel sound: found an error of the driver ("),
                      HasSubstr("while it loaded code for sm_90; expected "
                                "none; the code is not at fault")));
  }
}

TEST(EmulatedFaults, AnErrorOfTheTextRefusesIt) {
  for (const auto& replace :
       {FailLibraryLoad<CUDA_ERROR_INVALID_PTX>,
        FailLibraryLoad<CUDA_ERROR_UNSUPPORTED_PTX_VERSION>,
        FailLibraryLoad<CUDA_ERROR_INVALID_IMAGE>,
        FailLibraryLoad<CUDA_ERROR_INVALID_SOURCE>,
        FailGetKernel<CUDA_ERROR_INVALID_PTX>,
        FailGetKernel<CUDA_ERROR_NOT_FOUND>,
        FailGetFunction<CUDA_ERROR_NO_BINARY_FOR_GPU>,
        FailFuncLoad<CUDA_ERROR_INVALID_PTX>}) {
    const LoadOutcome outcome = LoadSoundWith(replace);
    SCOPED_TRACE(outcome.status);
    EXPECT_FALSE(outcome.is_trusted);
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(outcome.status.message()),
                AllOf(HasSubstr("kernel sound: found code for sm_90 that the "
                                "driver does not load ("),
                      HasSubstr("compile the model again")));
  }
}

// Each call of load in turn: no failure makes this process build code again.
TEST(EmulatedFaults, ALoadThatFailedOnceFindsItsCodeAgain) {
  const PtxPlan plan = MatmulSoftmaxPlan(1);
  const PlanLibraries libraries;
  std::vector<std::string> kernels;
  for (const OpView& node : plan.plan->entries[0].graph->ops()) {
    if (!HasPtxKernel(node)) continue;
    kernels.push_back(LaunchOfNode(node, /*multiprocessors=*/1)->kernel);
  }
  ASSERT_EQ(kernels.size(), 4u);
  int64_t calls = 0;
  {
    EmulatedMachine machine({});
    ASSERT_TRUE(RunOnce(plan, libraries, machine.api()).ok());
    calls = machine.cuda().calls();
  }
  for (int64_t call = 1; call <= calls; ++call) {
    EmulatedMachine machine({.fail_call = call});
    RunOnce(plan, libraries, machine.api()).status().IgnoreError();
    for (const std::string& kernel : kernels) {
      EXPECT_TRUE(HasTrustedPtx("sm_90", kernel)) << call;
    }
  }
}

// y = relu(x), of a shape that no other test builds code for.
std::shared_ptr<Plan> ReluPlan() {
  PlanBuilder b(1, DeviceKind::kCuda);
  b.plan().devices[0].traits.isa = "sm_90";
  const ValueId x = b.Input("x", {DType::kF32, {7, 13}, {}});
  const ValueId y = b.Node(kRelu, {x}, "y");
  b.Output("y", y);
  KernelBinding& kernel =
      *b.graph().node(b.graph().value(y).defining_node).kernel;
  kernel.kernel = "ptx.elementwise";
  kernel.arithmetics = {PtxArithmetic()};
  const StreamId compute = b.NewStream("compute", 0);
  const BufferId x0 = b.Room("x", 0, x);
  const BufferId y0 = b.Room("y", 0, y);
  b.Feed(compute, 0, x0);
  b.Kernel(compute, y, {x0}, y0);
  b.Fetch(compute, 0, y0);
  return b.Finish();
}

// ReluPlan with its code changed by `change`, which gets the text.
std::shared_ptr<Plan> ReluPlanWith(void (*change)(std::string&)) {
  std::shared_ptr<Plan> plan = ReluPlan();
  auto code = PtxCatalog().BuildCode({plan->entries[0].graph->ops().front()},
                                     plan->devices[0].traits);
  EXPECT_TRUE(code.ok()) << code.status();
  if (!code.ok() || code->size() != 1) return nullptr;
  std::vector<std::byte>& bytes = code->front().bytes;
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  change(text);
  bytes.resize(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  plan->code_objects = *std::move(code);
  return plan;
}

absl::Status Load(const std::shared_ptr<Plan>& plan, bool trust_code,
                  const EmulatedGpuOptions& options = {}) {
  EmulatedMachine machine(options);
  const PlanLibraries libraries;
  auto devices = DevicesOf(*plan, machine.api());
  EXPECT_TRUE(devices.ok()) << devices.status();
  const absl::Status status =
      Executor::New(plan, *std::move(devices), libraries.all,
                    {.trust_code = trust_code})
          .status();
  EXPECT_THAT(machine.Faults(), IsEmpty());
  return status;
}

// What the message says to do helps, in the same process too.
void ExpectThatTheRemediesHelp(const std::shared_ptr<Plan>& damaged) {
  EXPECT_EQ(Load(damaged, /*trust_code=*/false), absl::OkStatus());
  const auto sound = ReluPlanWith([](std::string&) {});
  ASSERT_NE(sound, nullptr);
  EXPECT_EQ(Load(sound, /*trust_code=*/true), absl::OkStatus());
  EXPECT_FALSE(Load(damaged, /*trust_code=*/true).ok());
  EXPECT_EQ(Load(sound, /*trust_code=*/true), absl::OkStatus());
}

TEST(EmulatedFaults, DamagedCodeOfAPlanNamesNodeAndKernel) {
  const auto plan = ReluPlanWith([](std::string& text) {
    // A register that is not one.
    text[text.find('%', text.find("ld.global")) + 1] = 'z';
  });
  ASSERT_NE(plan, nullptr);
  const std::vector<std::byte>& bytes = plan->code_objects[0].bytes;
  const std::string text(reinterpret_cast<const char*>(bytes.data()),
                         bytes.size());
  const auto at = static_cast<int64_t>(text.find("%z"));
  const auto line = std::count(text.begin(), text.begin() + at, '\n') + 1;
  const absl::Status status = Load(plan, /*trust_code=*/true);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("relu %y: kernel "),
                    HasSubstr(absl::StrCat("ptx input:", line, ": ")),
                    HasSubstr("run the plan without --trust-code")));
  ExpectThatTheRemediesHelp(plan);
}

TEST(EmulatedFaults, CodeThatDoesNotFitSaysWhatToDo) {
  const auto plan = ReluPlanWith([](std::string&) {});
  ASSERT_NE(plan, nullptr);
  const absl::Status status =
      Load(plan, /*trust_code=*/true,
           {.bytes_per_gpu = 4 << 20, .bytes_per_kernel = 5 << 20});
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("relu %y: kernel "),
            HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2), "),
            HasSubstr("the code is not at fault: it needs more that is free "
                      "beside the arena; compile for a machine with a larger "
                      "`reserve`")));
  EXPECT_EQ(Load(plan, /*trust_code=*/true), absl::OkStatus());
}

// A launch would read an address beyond those that it is given.
TEST(EmulatedFaults, AKernelOfOtherParametersIsRefused) {
  const auto more = ReluPlanWith([](std::string& text) {
    text.insert(text.find("\n)"), ",\n\t.param .u64 one_more");
  });
  ASSERT_NE(more, nullptr);
  const absl::Status status = Load(more, /*trust_code=*/true);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("relu %y: kernel "),
            HasSubstr(": found code for sm_90 of other parameters: parameter 2 "
                      "is none of the 2 addresses that a launch gives; compile "
                      "the model again, or run the plan without "
                      "--trust-code")));
  ExpectThatTheRemediesHelp(more);
}

}  // namespace
}  // namespace partita
