// Errors of kernels: their codes, what they end, and what is left to use.
// SPDX-License-Identifier: Apache-2.0

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/damaged_code.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

// Stores where the host alone has memory: mapped for no kernel.
CUresult StoreAstray(const Gpu& gpu, CUstream stream) {
  return gpu.Launch(stream, "store_at", {}, uint64_t{0x10});
}

// One kernel that fails, and the code that the next synchronisation gives.
template <typename Launch>
absl::StatusOr<Reading> Fails(Gpu& gpu, Launch launch, CUresult expected) {
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(gpu.api());
  steps.Code("launch", launch(stream.get()), CUDA_SUCCESS);
  steps.Code("synchronize", gpu.api().StreamSynchronize(stream.get()),
             expected);
  steps.Code("once more", gpu.api().StreamSynchronize(stream.get()), expected);
  CUdeviceptr memory = 0;
  steps.Code("cuMemAlloc", gpu.api().MemAlloc(&memory, 256), expected);
  return steps.End();
}

absl::StatusOr<Reading> IllegalAddress(Gpu& gpu) {
  return Fails(
      gpu, [&](CUstream stream) { return StoreAstray(gpu, stream); },
      CUDA_ERROR_ILLEGAL_ADDRESS);
}

absl::StatusOr<Reading> Misaligned(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory memory, gpu.NewMemory(64));
  return Fails(
      gpu,
      [&](CUstream stream) {
        return gpu.Launch(stream, "store_at", {}, memory.get() + 1);
      },
      CUDA_ERROR_MISALIGNED_ADDRESS);
}

absl::StatusOr<Reading> Trap(Gpu& gpu) {
  return Fails(
      gpu, [&](CUstream stream) { return gpu.Launch(stream, "trap_now", {}); },
      CUDA_ERROR_LAUNCH_FAILED);
}

absl::StatusOr<Reading> Assert(Gpu& gpu) {
  return Fails(
      gpu,
      [&](CUstream stream) { return gpu.Launch(stream, "fail_assert", {}); },
      CUDA_ERROR_ASSERT);
}

// The driver's own compiler never gives such code: a cubin is damaged.
absl::StatusOr<Reading> IllegalInstruction(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(std::string cubin, CubinOf(gpu, kTestKernels));
  PARTITA_RETURN_IF_ERROR(DamageKernel("set_word", cubin));
  PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library,
                           LoadLibrary(api, cubin.data()));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(64));
  CUkernel kernel = nullptr;
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.LibraryGetKernel(&kernel, library.get(), "set_word"),
                 "cuLibraryGetKernel"));
  CUdeviceptr address = word.get();
  uint32_t value = 5;
  void* parameters[] = {&address, &value};
  return Fails(
      gpu,
      [&](CUstream stream) {
        return gpu.LaunchKernel(stream, kernel, {}, parameters);
      },
      CUDA_ERROR_ILLEGAL_INSTRUCTION);
}

absl::StatusOr<Reading> StackOverflow(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(4));
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(gpu.api());
  steps.Code("launch", gpu.Launch(stream.get(), "overflow_stack", {},
                                  word.get(), 100000u));
  steps.Code("synchronize", gpu.api().StreamSynchronize(stream.get()));
  steps.Code("once more", gpu.api().StreamSynchronize(stream.get()));
  return steps.End();
}

// One element past a block: the block's rounding may hide it.
absl::StatusOr<Reading> PastTheEnd(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory memory, gpu.NewMemory(4096));
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(gpu.api());
  for (const uint64_t past : {uint64_t{0}, uint64_t{1} << 16, uint64_t{1} << 21,
                              uint64_t{1} << 26, uint64_t{1} << 32}) {
    steps.Code("launch", gpu.Launch(stream.get(), "store_at", {},
                                    memory.get() + 4096 + past));
    const CUresult result = gpu.api().StreamSynchronize(stream.get());
    steps.Code(absl::StrCat(past, " bytes past the end"), result);
    if (result != CUDA_SUCCESS) break;
  }
  return steps.End();
}

// Every class of calls after an illegal address.
absl::StatusOr<Reading> Afterwards(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream idle, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory memory, gpu.NewMemory(64));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory pinned, gpu.NewPinned(64));
  PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library,
                           LoadLibrary(api, kTestKernels));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  api.EventRecord(event.get(), idle.get());
  api.StreamSynchronize(idle.get());
  Steps steps(api);
  steps.Code("launch", StoreAstray(gpu, stream.get()), CUDA_SUCCESS);
  steps.Code("synchronize", api.StreamSynchronize(stream.get()),
             CUDA_ERROR_ILLEGAL_ADDRESS);
  size_t free = 0;
  size_t total = 0;
  void* host = nullptr;
  CUdeviceptr made = 0;
  CUcontext current = nullptr;
  steps.Code("synchronize an idle stream", api.StreamSynchronize(idle.get()));
  steps.Code("cuStreamQuery", api.StreamQuery(idle.get()));
  steps.Code("cuEventQuery of a done event", api.EventQuery(event.get()));
  steps.Code("cuEventRecord", api.EventRecord(event.get(), idle.get()));
  steps.Code("cuLaunchKernel", gpu.Launch(idle.get(), "empty", {}));
  steps.Code("cuGraphLaunch", api.GraphLaunch(exec.get(), idle.get()));
  steps.Code("cuMemcpyDtoHAsync",
             api.MemcpyDtoHAsync(pinned.get(), memory.get(), 64, idle.get()));
  steps.Code("cuMemAlloc", api.MemAlloc(&made, 64));
  steps.Code("cuMemHostAlloc",
             api.MemHostAlloc(&host, 64, CU_MEMHOSTALLOC_PORTABLE));
  steps.Code("cuMemGetInfo", api.MemGetInfo(&free, &total));
  steps.Code("cuCtxGetCurrent", api.CtxGetCurrent(&current));
  steps.Code("cuCtxSetCurrent", api.CtxSetCurrent(gpu.context()));
  steps.Code("cuCtxSynchronize", api.CtxSynchronize());
  steps.Code("cuMemFree", api.MemFree(memory.release()));
  steps.Code("cuMemFreeHost", api.MemFreeHost(pinned.release()));
  steps.Code("cuGraphExecDestroy", api.GraphExecDestroy(exec.release()));
  steps.Code("cuGraphDestroy", api.GraphDestroy(graph.release()));
  steps.Code("cuEventDestroy", api.EventDestroy(event.release()));
  steps.Code("cuStreamDestroy", api.StreamDestroy(stream.release()));
  steps.Code("cuLibraryUnload", api.LibraryUnload(library.release()));
  steps.Code("cuDeviceGetAttribute", [&] {
    int value = 0;
    return api.DeviceGetAttribute(
        &value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, gpu.device());
  }());
  return steps.End();
}

// Does the device work again in this process, by reset, or by release and
// retain?
absl::StatusOr<Reading> Recover(Gpu& gpu, bool reset) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(api);
  StoreAstray(gpu, stream.get());
  steps.Code("synchronize", api.StreamSynchronize(stream.release()),
             CUDA_ERROR_ILLEGAL_ADDRESS);
  const CUdevice device = gpu.device();
  if (reset) {
    steps.Code("reset", api.DevicePrimaryCtxReset(device));
  } else {
    steps.Code("release", api.DevicePrimaryCtxRelease(device));
  }
  CUcontext context = nullptr;
  steps.Code("retain", api.DevicePrimaryCtxRetain(&context, device));
  steps.Code("set current", api.CtxSetCurrent(context));
  steps.Code("synchronize", api.CtxSynchronize());
  CUdeviceptr memory = 0;
  steps.Code("alloc", api.MemAlloc(&memory, 256));
  CUstream fresh = nullptr;
  steps.Code("stream", api.StreamCreate(&fresh, CU_STREAM_NON_BLOCKING));
  CUlibrary library = nullptr;
  steps.Code("library", api.LibraryLoadData(&library, kTestKernels, nullptr,
                                            nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  if (library != nullptr) api.LibraryGetKernel(&kernel, library, "set_word");
  if (kernel == nullptr || fresh == nullptr) return steps.End();
  uint32_t value = 5;
  void* parameters[] = {&memory, &value};
  steps.Code("launch", gpu.LaunchKernel(fresh, kernel, {}, parameters));
  steps.Code("synchronize", api.StreamSynchronize(fresh));
  uint32_t seen = 0;
  steps.Code("copy", api.MemcpyDtoH(&seen, memory, 4));
  steps.Note(seen == 5 ? "the device works again" : "the device does not work");
  return steps.End();
}

absl::StatusOr<Reading> RecoverByReset(Gpu& gpu) { return Recover(gpu, true); }
absl::StatusOr<Reading> RecoverByRelease(Gpu& gpu) {
  return Recover(gpu, false);
}

absl::StatusOr<Reading> OtherContext(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedContext other, gpu.NewContext());
  api.CtxSetCurrent(other.get());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(4));
  gpu.Launch(stream.get(), "set_word", {}, word.get(), 3u);
  api.StreamSynchronize(stream.get());
  api.CtxSetCurrent(gpu.context());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream broken, gpu.NewStream());
  Steps steps(api);
  StoreAstray(gpu, broken.get());
  steps.Code("synchronize", api.StreamSynchronize(broken.get()),
             CUDA_ERROR_ILLEGAL_ADDRESS);
  steps.Code("set the other context", api.CtxSetCurrent(other.get()));
  steps.Code("launch there",
             gpu.Launch(stream.get(), "set_word", {}, word.get(), 4u),
             CUDA_ERROR_ILLEGAL_ADDRESS);
  steps.Code("synchronize there", api.StreamSynchronize(stream.get()),
             CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr made = 0;
  steps.Code("alloc there", api.MemAlloc(&made, 64),
             CUDA_ERROR_ILLEGAL_ADDRESS);
  uint32_t seen = 0;
  steps.Code("copy there", api.MemcpyDtoH(&seen, word.get(), 4),
             CUDA_ERROR_ILLEGAL_ADDRESS);
  CUcontext third = nullptr;
  steps.Code("a new context", api.CtxCreate(&third, nullptr, 0, gpu.device()));
  word.release();
  return steps.End();
}

// A second process works on the device while this one's context breaks.
absl::StatusOr<Reading> OtherProcess(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(gpu.api());
  std::string program(4096, '\0');
  program.resize(
      std::max<ssize_t>(0, readlink("/proc/self/exe", program.data(), 4095)));
  const pid_t child = fork();
  if (child == 0) {
    close(STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), "--groups", "event", "--seconds",
          "8", "--out", "/dev/null", nullptr);
    _exit(127);
  }
  usleep(1200000);
  StoreAstray(gpu, stream.get());
  steps.Code("synchronize", gpu.api().StreamSynchronize(stream.get()),
             CUDA_ERROR_ILLEGAL_ADDRESS);
  int status = 0;
  waitpid(child, &status, 0);
  steps.Is("the other process's facts ended with status",
           WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  return steps.End();
}

// A bad launch is refused, and leaves the context alone.
absl::StatusOr<Reading> RefusedLaunch(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(api);
  steps.Code("2048 threads", gpu.Launch(stream.get(), "empty", {1, 2048}),
             CUDA_ERROR_INVALID_VALUE);
  steps.Code("a good launch", gpu.Launch(stream.get(), "empty", {}),
             CUDA_SUCCESS);
  steps.Code("synchronize", api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  return steps.End();
}

absl::StatusOr<Reading> LateReport(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream other, gpu.NewStream());
  Steps steps(api);
  StoreAstray(gpu, stream.get());
  usleep(300000);
  steps.Code("launch in another stream, 0.3 s later",
             gpu.Launch(other.get(), "empty", {}));
  steps.Code("query of the other stream", api.StreamQuery(other.get()));
  steps.Code("synchronize the other stream",
             api.StreamSynchronize(other.get()));
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"error.refused_launch", "A refused launch leaves the context usable",
     "cuda.h:2523", "INVALID_VALUE, then SUCCESS", RefusedLaunch},
    {"error.illegal_address", "An illegal address is sticky", "cuda.h:2837",
     "CUDA_ERROR_ILLEGAL_ADDRESS, then for every call", IllegalAddress,
     Process::kOwn},
    {"error.misaligned", "A misaligned address is sticky", "cuda.h:2944",
     "CUDA_ERROR_MISALIGNED_ADDRESS", Misaligned, Process::kOwn},
    {"error.trap", "A trap is a failed launch", "cuda.h:2974",
     "CUDA_ERROR_LAUNCH_FAILED", Trap, Process::kOwn},
    {"error.assert", "A failed assertion is sticky", "cuda.h:2899",
     "CUDA_ERROR_ASSERT", Assert, Process::kOwn},
    {"error.illegal_instruction", "An illegal instruction is sticky",
     "cuda.h:2935", "CUDA_ERROR_ILLEGAL_INSTRUCTION", IllegalInstruction,
     Process::kOwn},
    {"error.stack_overflow", "What a stack overflow gives", "cuda.h:2927",
     "figure", StackOverflow, Process::kOwn},
    {"error.past_the_end", "How far past a block a store goes unnoticed",
     "none", "figure", PastTheEnd, Process::kOwn},
    {"error.late_report", "Where an error shows if its stream is not asked",
     "cuda.h: \\notefnerr of every call", "figure", LateReport, Process::kOwn},
    {"error.afterwards",
     "Codes of every class of calls after an illegal "
     "address",
     "cuda.h:2833", "figure", Afterwards, Process::kOwn},
    {"error.recover_by_reset",
     "cuDevicePrimaryCtxReset after an illegal address: is the device usable?",
     "cuda.h:2834: the process must be relaunched", "figure", RecoverByReset,
     Process::kOwn},
    {"error.recover_by_release",
     "Release and retain after an illegal address: is the device usable?",
     "cuda.h:2834: the process must be relaunched", "figure", RecoverByRelease,
     Process::kOwn},
    {"error.other_context",
     "An illegal address also ends the other contexts of the process",
     "cuda.h:2833", "CUDA_ERROR_ILLEGAL_ADDRESS for every call", OtherContext,
     Process::kOwn},
    {"error.other_process", "Another process does not notice", "none",
     "status 0", OtherProcess, Process::kOwn},
};

}  // namespace

FactGroup ErrorFacts() { return {"error", kFacts}; }

}  // namespace partita
