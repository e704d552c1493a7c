// What contexts, code, streams and events take of the device's free bytes.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

absl::StatusOr<Reading> Context(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  size_t free = 0;
  size_t total = 0;
  steps.Code("cuMemGetInfo", api.MemGetInfo(&free, &total), CUDA_SUCCESS);
  size_t device_total = 0;
  steps.Code("cuDeviceTotalMem",
             api.DeviceTotalMem(&device_total, gpu.device()), CUDA_SUCCESS);
  steps.Figure("free_bytes", static_cast<double>(free));
  steps.Figure("total_bytes", static_cast<double>(total));
  steps.Figure("device_total_bytes", static_cast<double>(device_total));
  steps.Figure("taken_with_primary_context_and_code_bytes",
               static_cast<double>(total - free));
  double start = HostSeconds();
  PARTITA_ASSIGN_OR_RETURN(OwnedContext second, gpu.NewContext());
  steps.Figure("second_context_ms", (HostSeconds() - start) * 1e3);
  steps.Figure("second_context_bytes",
               static_cast<double>(free) - gpu.FreeBytes());
  start = HostSeconds();
  steps.Code("destroy", api.CtxDestroy(second.release()), CUDA_SUCCESS);
  steps.Figure("destroy_ms", (HostSeconds() - start) * 1e3);
  steps.Figure("bytes_not_given_back",
               static_cast<double>(free) - gpu.FreeBytes());
  return steps.End();
}

absl::StatusOr<Reading> PrimaryAgain(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  const int64_t before = gpu.FreeBytes();
  double start = HostSeconds();
  steps.Code("release", api.DevicePrimaryCtxRelease(gpu.device()),
             CUDA_SUCCESS);
  steps.Figure("release_ms", (HostSeconds() - start) * 1e3);
  steps.Code("a call without context", api.CtxSynchronize());
  CUcontext again = nullptr;
  start = HostSeconds();
  steps.Code("retain", api.DevicePrimaryCtxRetain(&again, gpu.device()),
             CUDA_SUCCESS);
  steps.Figure("retain_ms", (HostSeconds() - start) * 1e3);
  api.CtxSetCurrent(again);
  steps.Note(again == gpu.context() ? "the same handle" : "another handle");
  steps.Figure("bytes_of_loaded_test_kernels",
               static_cast<double>(gpu.FreeBytes() - before));
  return steps.End();
}

absl::StatusOr<Reading> Events(Gpu& gpu) {
  Steps steps(gpu.api());
  for (const unsigned flags :
       {unsigned{CU_EVENT_DEFAULT}, unsigned{CU_EVENT_DISABLE_TIMING}}) {
    std::vector<OwnedEvent> events;
    const int64_t before = gpu.FreeBytes();
    const double start = HostSeconds();
    for (int i = 0; i < 20000; ++i) {
      PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent(flags));
      events.push_back(std::move(event));
    }
    const std::string name =
        flags == CU_EVENT_DEFAULT ? "timed_event" : "event";
    steps.Figure(name + "_create_us", (HostSeconds() - start) * 1e6 / 20000);
    steps.Figure(name + "_bytes",
                 static_cast<double>(before - gpu.FreeBytes()) / 20000);
  }
  return steps.End();
}

absl::StatusOr<Reading> Libraries(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  std::vector<OwnedLibrary> libraries;
  const int64_t before = gpu.FreeBytes();
  for (int i = 0; i < 20; ++i) {
    PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library,
                             LoadLibrary(api, kTestKernels));
    libraries.push_back(std::move(library));
  }
  steps.Figure("library_not_loaded_bytes",
               static_cast<double>(before - gpu.FreeBytes()) / 20);
  for (OwnedLibrary& library : libraries) {
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    api.LibraryGetKernel(&kernel, library.get(), "copy16");
    api.KernelGetFunction(&function, kernel);
    api.FuncLoad(function);
  }
  steps.Figure("with_one_kernel_loaded_bytes",
               static_cast<double>(before - gpu.FreeBytes()) / 20);
  libraries.clear();
  steps.Figure("kept_after_unload_bytes",
               static_cast<double>(before - gpu.FreeBytes()));
  return steps.End();
}

absl::StatusOr<Reading> LocalMemory(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  size_t stack = 0;
  size_t heap = 0;
  size_t fifo = 0;
  steps.Code("stack limit", api.CtxGetLimit(&stack, CU_LIMIT_STACK_SIZE));
  steps.Code("heap limit", api.CtxGetLimit(&heap, CU_LIMIT_MALLOC_HEAP_SIZE));
  steps.Code("printf limit", api.CtxGetLimit(&fifo, CU_LIMIT_PRINTF_FIFO_SIZE));
  steps.Figure("stack_bytes_a_thread", static_cast<double>(stack));
  steps.Figure("malloc_heap_bytes", static_cast<double>(heap));
  steps.Figure("printf_bytes", static_cast<double>(fifo));
  const int64_t before = gpu.FreeBytes();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(4));
  gpu.Launch(stream.get(), "local_array", {}, word.get(), 1u);
  gpu.Launch(stream.get(), "overflow_stack", {}, word.get(), 0u);
  api.StreamSynchronize(stream.get());
  steps.Figure("after_kernels_with_local_memory_bytes",
               static_cast<double>(before - gpu.FreeBytes()));
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"footprint.context", "What a context takes of the device", "none",
     "figure", Context, Process::kOwn},
    {"footprint.primary_again", "The primary context released and retained",
     "cuda.h:5896", "figure", PrimaryAgain, Process::kOwn},
    {"footprint.events", "What events take", "none", "figure", Events},
    {"footprint.libraries", "What a library takes, loaded lazily", "none",
     "figure", Libraries, Process::kOwn},
    {"footprint.libraries_eager", "The same with CUDA_MODULE_LOADING=EAGER",
     "none", "figure", Libraries, Process::kOwn, "CUDA_MODULE_LOADING=EAGER"},
    {"footprint.local_memory", "Limits, and what local memory takes", "none",
     "figure", LocalMemory, Process::kOwn},
};

}  // namespace

FactGroup FootprintFacts() { return {"footprint", kFacts}; }

}  // namespace partita
