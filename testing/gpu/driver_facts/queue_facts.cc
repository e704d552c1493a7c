// How much a held stream takes before a call waits, and who waits with it.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_building.h"

namespace partita {
namespace {

constexpr int kMost = 5000;

// A call that takes longer than this waits for the stream.
constexpr double kWaitSeconds = 0.05;

// Issues `call` into a stream that a kernel holds for half a second, until one
// waits; says how many did not.
absl::Status MeasureDepth(const Gpu& gpu, const std::string& name,
                          CUstream stream,
                          const std::function<CUresult()>& call, Steps& steps) {
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  PARTITA_RETURN_IF_ERROR(gpu.Status(gate.Block(stream, 0.5), "spin"));
  int taken = 0;
  bool waited = false;
  while (taken < kMost && !waited) {
    const double start = HostSeconds();
    const CUresult result = call();
    if (result != CUDA_SUCCESS) {
      steps.Code(name, result);
      break;
    }
    waited = HostSeconds() - start > kWaitSeconds;
    if (!waited) ++taken;
  }
  steps.Figure(name, taken);
  if (!waited) steps.Note("none waited");
  if (!waited && gate.ran_out()) steps.Note("the time of the kernel was over");
  gate.Open();
  return gpu.Status(gpu.api().StreamSynchronize(stream), "cuStreamSynchronize");
}

absl::StatusOr<Reading> Depths(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream owner, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory device, gpu.NewMemory(4096));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory host, gpu.NewPinned(4096));
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  AddKernel(gpu, graph.get(), {}, "empty", {});
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  const CUstream stream = owner.get();
  Steps steps(api);
  const auto depth = [&](const char* name, std::function<CUresult()> call) {
    return MeasureDepth(gpu, name, stream, call, steps);
  };
  PARTITA_RETURN_IF_ERROR(
      depth("kernels", [&] { return gpu.Launch(stream, "empty", {}); }));
  PARTITA_RETURN_IF_ERROR(depth("fills", [&] {
    return api.MemsetD32Async(device.get(), 1, 16, stream);
  }));
  PARTITA_RETURN_IF_ERROR(depth("copies_to_device", [&] {
    return api.MemcpyHtoDAsync(device.get(), host.get(), 64, stream);
  }));
  PARTITA_RETURN_IF_ERROR(depth("copies_to_host", [&] {
    return api.MemcpyDtoHAsync(host.get(), device.get(), 64, stream);
  }));
  PARTITA_RETURN_IF_ERROR(
      depth("records", [&] { return api.EventRecord(event.get(), stream); }));
  PARTITA_RETURN_IF_ERROR(depth(
      "graph_launches", [&] { return api.GraphLaunch(exec.get(), stream); }));
  return steps.End();
}

void CountCall(void* count) { ++*static_cast<std::atomic<int>*>(count); }

absl::StatusOr<Reading> HostFunctions(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream owner, gpu.NewStream());
  const CUstream stream = owner.get();
  std::atomic<int> calls{0};
  Steps steps(api);
  PARTITA_RETURN_IF_ERROR(MeasureDepth(
      gpu, "host_functions", stream,
      [&] { return api.LaunchHostFunc(stream, CountCall, &calls); }, steps));
  PARTITA_RETURN_IF_ERROR(MeasureDepth(
      gpu, "host_functions_each_with_a_kernel", stream,
      [&] {
        const CUresult result = api.LaunchHostFunc(stream, CountCall, &calls);
        return result != CUDA_SUCCESS ? result
                                      : gpu.Launch(stream, "empty", {});
      },
      steps));
  return steps.End();
}

// Waits for an event that is held back, issued into another stream.
absl::StatusOr<Reading> Waits(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream held, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream waiting, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  Steps steps(api);
  bool recorded = false;
  PARTITA_RETURN_IF_ERROR(MeasureDepth(
      gpu, "waits_each_with_a_kernel", held.get(),
      [&] {
        if (!recorded) api.EventRecord(event.get(), held.get());
        recorded = true;
        const CUresult result =
            api.StreamWaitEvent(waiting.get(), event.get(), 0);
        return result != CUDA_SUCCESS ? result
                                      : gpu.Launch(waiting.get(), "empty", {});
      },
      steps));
  api.CtxSynchronize();
  return steps.End();
}

// Milliseconds of a call.
template <typename Call>
void TimeCall(const std::string& name, Call call, Steps& steps) {
  const double start = HostSeconds();
  steps.Code(name, call());
  steps.Figure(name + "_ms", (HostSeconds() - start) * 1e3);
}

// One thread waits in a launch into a full stream; this one works with another
// stream meanwhile.
absl::StatusOr<Reading> OtherStream(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream held, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream other, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  gate.Block(held.get(), 2.0);
  std::atomic<bool> stop{false};
  std::atomic<int> launched{0};
  std::thread filler([&] {
    api.CtxSetCurrent(gpu.context());
    while (!stop && launched < kMost) {
      gpu.Launch(held.get(), "empty", {});
      ++launched;
    }
  });
  usleep(300000);
  Steps steps(api);
  steps.Figure("launches_of_the_other_thread", launched);
  TimeCall(
      "event_query", [&] { return api.EventQuery(event.get()); }, steps);
  TimeCall(
      "launch", [&] { return gpu.Launch(other.get(), "empty", {}); }, steps);
  TimeCall(
      "synchronize", [&] { return api.StreamSynchronize(other.get()); }, steps);
  TimeCall(
      "record", [&] { return api.EventRecord(event.get(), other.get()); },
      steps);
  steps.Note(gate.ran_out() ? "the kernel ended meanwhile"
                            : "the stream was still held");
  stop = true;
  gate.Open();
  filler.join();
  api.CtxSynchronize();
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"queue.depths",
     "Commands that a held stream takes before a call of the host waits",
     "none", "figure", Depths, Process::kOwn},
    {"queue.host_functions",
     "Host functions that a held stream takes before a call waits", "none",
     "figure", HostFunctions, Process::kOwn},
    {"queue.waits",
     "Waits for an event that is held back: how many before a call waits",
     "none", "figure", Waits, Process::kOwn},
    {"queue.other_stream",
     "Calls for another stream while a thread waits in a launch into a full "
     "stream",
     "none", "figure", OtherStream, Process::kOwn},
};

}  // namespace

FactGroup QueueFacts() { return {"queue", kFacts}; }

}  // namespace partita
