// Launches: bad shapes and parameters, cuLaunchKernelEx, latency, many pending.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstring>
#include <vector>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_building.h"

namespace partita {
namespace {

absl::StatusOr<Reading> BadShapes(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(4));
  const CUstream s = stream.get();
  Steps steps(api);
  steps.Code("0 blocks", gpu.Launch(s, "empty", {0, 1}),
             CUDA_ERROR_INVALID_VALUE);
  steps.Code("0 threads", gpu.Launch(s, "empty", {1, 0}),
             CUDA_ERROR_INVALID_VALUE);
  steps.Code("1025 threads", gpu.Launch(s, "empty", {1, 1025}),
             CUDA_ERROR_INVALID_VALUE);
  steps.Code("2^31 blocks", gpu.Launch(s, "empty", {0x80000000u, 1}),
             CUDA_ERROR_INVALID_VALUE);
  steps.Code("65 threads where .maxntid is 64",
             gpu.Launch(s, "few_threads", {1, 65}, word.get()));
  steps.Code("49153 shared bytes", gpu.Launch(s, "empty", {1, 1, 49153}),
             CUDA_ERROR_INVALID_VALUE);
  steps.Code("a null kernel", gpu.LaunchKernel(s, nullptr, {}, nullptr),
             CUDA_ERROR_INVALID_HANDLE);
  steps.Code("65536 blocks in y",
             api.LaunchKernel(reinterpret_cast<CUfunction>(gpu.kernel("empty")),
                              1, 65536, 1, 1, 1, 1, 0, s, nullptr, nullptr),
             CUDA_ERROR_INVALID_VALUE);
  steps.Code("synchronize", api.StreamSynchronize(s), CUDA_SUCCESS);
  return steps.End();
}

absl::StatusOr<Reading> SharedLimit(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  const int most =
      gpu.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  CUfunction function = nullptr;
  Steps steps(api);
  steps.Figure("most_shared_bytes", most);
  steps.Code("function", api.KernelGetFunction(&function, gpu.kernel("empty")));
  steps.Code(
      "ask for the most",
      api.FuncSetAttribute(
          function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most),
      CUDA_SUCCESS);
  steps.Code(
      "launch with it",
      gpu.Launch(stream.get(), "empty", {1, 1, static_cast<unsigned>(most)}),
      CUDA_SUCCESS);
  steps.Code("launch with one more",
             gpu.Launch(stream.get(), "empty",
                        {1, 1, static_cast<unsigned>(most) + 1}),
             CUDA_ERROR_INVALID_VALUE);
  steps.Code(
      "ask for one more",
      api.FuncSetAttribute(
          function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1),
      CUDA_ERROR_INVALID_VALUE);
  steps.Code("synchronize", api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  return steps.End();
}

// Parameters as one buffer: the right size, too small, misaligned.
absl::StatusOr<Reading> ParameterBuffer(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(4));
  alignas(16) std::array<char, 64> bytes{};
  Steps steps(api);
  const auto launch = [&](size_t start, size_t size) {
    const CUdeviceptr address = word.get();
    const uint32_t value = 31;
    std::memcpy(bytes.data() + start, &address, 8);
    std::memcpy(bytes.data() + start + 8, &value, 4);
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes.data() + start,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    return api.LaunchKernel(
        reinterpret_cast<CUfunction>(gpu.kernel("set_word")), 1, 1, 1, 1, 1, 1,
        0, stream.get(), nullptr, extra);
  };
  steps.Code("12 bytes", launch(0, 12), CUDA_SUCCESS);
  steps.Code("16 bytes", launch(0, 16));
  steps.Code("8 bytes", launch(0, 8));
  steps.Code("48 bytes", launch(0, 48));
  steps.Code("12 bytes at an odd address", launch(1, 12));
  steps.Code("synchronize", api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  steps.Code(
      "no parameters at all",
      api.LaunchKernel(reinterpret_cast<CUfunction>(gpu.kernel("set_word")), 1,
                       1, 1, 1, 1, 1, 0, stream.get(), nullptr, nullptr));
  return steps.End();
}

absl::StatusOr<Reading> LaunchEx(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(4));
  Steps steps(api);
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream.get();
  CUdeviceptr address = word.get();
  uint32_t value = 4;
  void* parameters[] = {&address, &value};
  steps.Code("a kernel as function",
             api.LaunchKernelEx(
                 &config, reinterpret_cast<CUfunction>(gpu.kernel("add_word")),
                 parameters, nullptr),
             CUDA_SUCCESS);
  CUfunction function = nullptr;
  api.KernelGetFunction(&function, gpu.kernel("add_word"));
  steps.Code("its function",
             api.LaunchKernelEx(&config, function, parameters, nullptr),
             CUDA_SUCCESS);
  steps.Code("synchronize", api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  PARTITA_ASSIGN_OR_RETURN(const uint32_t seen, gpu.ReadWord(word.get()));
  steps.Is("word", seen, 8u);
  return steps.End();
}

// A kernel follows its stream's context, whichever is current.
absl::StatusOr<Reading> WrongContext(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedContext other, gpu.NewContext());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(4));
  CUfunction function = nullptr;
  api.KernelGetFunction(&function, gpu.kernel("empty"));
  Steps steps(api);
  api.CtxSetCurrent(other.get());
  steps.Code("a kernel in a stream of a context that is not current",
             gpu.Launch(stream.get(), "set_word", {}, word.get(), 2u));
  PARTITA_ASSIGN_OR_RETURN(OwnedStream there, gpu.NewStream());
  steps.Code("a function of one context in a stream of another",
             api.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, there.get(),
                              nullptr, nullptr),
             CUDA_ERROR_INVALID_HANDLE);
  steps.Code("a copy in a stream of a context that is not current",
             api.MemsetD32Async(word.get(), 3, 1, stream.get()));
  api.CtxSetCurrent(nullptr);
  steps.Code("a launch without a context",
             gpu.Launch(stream.get(), "empty", {}));
  steps.Code(
      "an alloc without a context",
      [&] {
        CUdeviceptr memory = 0;
        return api.MemAlloc(&memory, 64);
      }(),
      CUDA_ERROR_INVALID_CONTEXT);
  api.CtxSetCurrent(gpu.context());
  return steps.End();
}

absl::StatusOr<Reading> Latency(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(api);
  steps.Figure("launch_us", MedianMicroseconds(2000, [&] {
                 gpu.Launch(stream.get(), "empty", {});
               }));
  api.StreamSynchronize(stream.get());
  steps.Figure("launch_and_synchronize_us", MedianMicroseconds(1000, [&] {
                 gpu.Launch(stream.get(), "empty", {});
                 api.StreamSynchronize(stream.get());
               }));
  const double start = HostSeconds();
  for (int i = 0; i < 10000; ++i) gpu.Launch(stream.get(), "empty", {});
  api.StreamSynchronize(stream.get());
  steps.Figure("many_us_each", (HostSeconds() - start) * 1e6 / 10000);
  return steps.End();
}

// How many launches a held stream takes before a launch waits.
absl::StatusOr<Reading> QueueDepth(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  Steps steps(api);
  gate.Block(stream.get(), 0.5);
  int depth = 0;
  for (; depth < 20000; ++depth) {
    const double start = HostSeconds();
    gpu.Launch(stream.get(), "empty", {});
    if (HostSeconds() - start > 0.05) break;
  }
  steps.Figure("launches_before_one_waits", depth);
  gate.Open();
  api.StreamSynchronize(stream.get());
  return steps.End();
}

absl::StatusOr<Reading> NoTimeout(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  Steps steps(api);
  steps.Is("CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT",
           gpu.attribute(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT), 0);
  const double start = HostSeconds();
  gate.Block(stream.get(), 4.0);
  steps.Code("a kernel of 4 s", api.StreamSynchronize(stream.get()),
             CUDA_SUCCESS);
  steps.Figure("seconds", HostSeconds() - start);
  return steps.End();
}

// Do calls return only when the work is done, with CUDA_LAUNCH_BLOCKING=1?
absl::StatusOr<Reading> BlockingVariable(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory flag, gpu.NewPinned(8));
  AddKernel(gpu, graph.get(), {}, "spin", {}, flag.get(), uint64_t{50000000});
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  Steps steps(api);
  double start = HostSeconds();
  steps.Code("launch of 50 ms", gpu.Launch(stream.get(), "spin", {}, flag.get(),
                                           uint64_t{50000000}));
  steps.Figure("launch_ms", (HostSeconds() - start) * 1e3);
  api.StreamSynchronize(stream.get());
  start = HostSeconds();
  steps.Code("graph launch of 50 ms",
             api.GraphLaunch(exec.get(), stream.get()));
  steps.Figure("graph_launch_ms", (HostSeconds() - start) * 1e3);
  api.StreamSynchronize(stream.get());
  return steps.End();
}

// cuCtxCreate pushes, a null context pops, any other takes the top's place.
absl::StatusOr<Reading> ContextStack(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  CUcontext made = nullptr;
  CUcontext current = nullptr;
  Steps steps(api);
  steps.Code("create", api.CtxCreate(&made, nullptr, 0, gpu.device()),
             CUDA_SUCCESS);
  OwnedContext owner(api, made);
  api.CtxGetCurrent(&current);
  steps.Holds("the new context is current", current == made);
  steps.Code("set null", api.CtxSetCurrent(nullptr), CUDA_SUCCESS);
  api.CtxGetCurrent(&current);
  steps.Holds("the one before is current", current == gpu.context());
  steps.Code("set null again", api.CtxSetCurrent(nullptr), CUDA_SUCCESS);
  api.CtxGetCurrent(&current);
  steps.Holds("none is current", current == nullptr);
  api.CtxSetCurrent(gpu.context());
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"launch.bad_shapes", "Shapes outside the limits are refused at the call",
     "cuda.h:2523; CUDA guide, technical specifications",
     "CUDA_ERROR_INVALID_VALUE", BadShapes},
    {"launch.shared_limit", "More than 48 KiB of shared memory is asked for",
     "cuda.h:17203", "granted up to the attribute", SharedLimit},
    {"launch.parameter_buffer", "Parameters as a buffer: sizes and alignment",
     "cuda.h:17439", "figure", ParameterBuffer, Process::kOwn},
    {"launch.ex", "cuLaunchKernelEx takes kernels and functions",
     "cuda.h:17820", "both run", LaunchEx},
    {"launch.contexts",
     "Kernels follow their stream's context; functions "
     "belong to one",
     "cuda.h:17492", "INVALID_HANDLE for a foreign function", WrongContext,
     Process::kOwn},
    {"launch.context_stack",
     "cuCtxCreate pushes a context on the thread's stack; to set a null one "
     "pops it",
     "cuda.h:6404", "new, old, none", ContextStack, Process::kOwn},
    {"launch.blocking_variable",
     "With CUDA_LAUNCH_BLOCKING=1 launches return when the work is done",
     "CUDA guide, environment variables", "figure", BlockingVariable,
     Process::kOwn, "CUDA_LAUNCH_BLOCKING=1"},
    {"launch.latency", "What launches cost", "none", "figure", Latency},
    {"launch.queue_depth", "Launches that a held stream takes", "none",
     "figure", QueueDepth},
    {"launch.no_timeout", "No time limit for kernels on this device",
     "cuda.h:2858", "a kernel of 4 s ends well", NoTimeout},
};

}  // namespace

FactGroup LaunchFacts() { return {"launch", kFacts}; }

}  // namespace partita
