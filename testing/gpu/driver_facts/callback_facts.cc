// Host functions in streams: order, errors, CUDA calls inside.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <atomic>
#include <vector>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

// What host functions did: their count, and how many came out of turn.
struct CallLog {
  std::atomic<int> calls{0};
  std::atomic<int> out_of_turn{0};
};

struct Numbered {
  CallLog* log;
  int number;
};

void LogCall(void* pointer) {
  const Numbered& numbered = *static_cast<Numbered*>(pointer);
  if (numbered.log->calls++ != numbered.number) ++numbered.log->out_of_turn;
}

// Few enough calls that none of the launches waits (queue.host_functions).
constexpr int kCalls = 4;

absl::StatusOr<Reading> Order(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  CallLog log;
  std::vector<Numbered> calls(kCalls);
  Steps steps(api);
  gate.Block(stream.get());
  const double start = HostSeconds();
  for (int i = 0; i < kCalls; ++i) {
    calls[i] = {&log, i};
    steps.Code("host function",
               api.LaunchHostFunc(stream.get(), LogCall, &calls[i]),
               CUDA_SUCCESS);
    steps.Code("kernel", gpu.Launch(stream.get(), "empty", {}), CUDA_SUCCESS);
  }
  steps.Figure("issue_ms", (HostSeconds() - start) * 1e3);
  usleep(20000);
  const int early = log.calls;
  steps.Holds("the stream is still held", !gate.ran_out());
  steps.Is("called before their turn", early, 0);
  gate.Open();
  steps.Code("synchronize", api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  steps.Is("calls", log.calls.load(), kCalls);
  steps.Is("out of turn", log.out_of_turn.load(), 0);
  return steps.End();
}

struct Inside {
  const Gpu* gpu;
  CUstream stream;
  CUresult current, alloc, query, launch, info;
};

void CallInside(void* pointer) {
  Inside& inside = *static_cast<Inside*>(pointer);
  const DriverApi& api = inside.gpu->api();
  inside.current = api.CtxSetCurrent(inside.gpu->context());
  CUdeviceptr memory = 0;
  inside.alloc = api.MemAlloc(&memory, 64);
  inside.query = api.StreamQuery(inside.stream);
  inside.launch = inside.gpu->Launch(inside.stream, "empty", {});
  size_t free = 0;
  size_t total = 0;
  inside.info = api.MemGetInfo(&free, &total);
}

absl::StatusOr<Reading> CallsInside(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream other, gpu.NewStream());
  Inside inside{&gpu, other.get(), {}, {}, {}, {}, {}};
  Steps steps(api);
  steps.Code("launch", api.LaunchHostFunc(stream.get(), CallInside, &inside),
             CUDA_SUCCESS);
  steps.Code("synchronize", api.StreamSynchronize(stream.get()));
  steps.Code("cuCtxSetCurrent inside", inside.current);
  steps.Code("cuMemAlloc inside", inside.alloc);
  steps.Code("cuStreamQuery inside", inside.query);
  steps.Code("cuLaunchKernel inside", inside.launch);
  steps.Code("cuMemGetInfo inside", inside.info);
  return steps.End();
}

absl::StatusOr<Reading> NotAfterError(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  CallLog log;
  Numbered call{&log, 0};
  Steps steps(api);
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  gate.Block(stream.get());
  gpu.Launch(stream.get(), "trap_now", {});
  steps.Code("host function behind a trap",
             api.LaunchHostFunc(stream.get(), LogCall, &call), CUDA_SUCCESS);
  gate.Open();
  steps.Code("synchronize", api.StreamSynchronize(stream.get()));
  usleep(100000);
  steps.Is("calls", log.calls.load(), 0);
  return steps.End();
}

void Nap(void* pointer) {
  usleep(100000);
  ++*static_cast<std::atomic<int>*>(pointer);
}

absl::StatusOr<Reading> Serialised(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream first, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream second, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream third, gpu.NewStream());
  std::atomic<int> done{0};
  const double start = HostSeconds();
  api.LaunchHostFunc(first.get(), Nap, &done);
  api.LaunchHostFunc(second.get(), Nap, &done);
  gpu.Launch(third.get(), "empty", {});
  api.StreamSynchronize(third.get());
  Steps steps(api);
  steps.Figure("another_stream_done_ms", (HostSeconds() - start) * 1e3);
  api.StreamSynchronize(first.get());
  api.StreamSynchronize(second.get());
  steps.Figure("two_of_100_ms_in_two_streams_ms",
               (HostSeconds() - start) * 1e3);
  steps.Is("calls", done.load(), 2);
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"callback.order", "Host functions of a stream are called in its order",
     "cuda.h:18067", "in order, none early", Order, Process::kOwn},
    {"callback.serialised",
     "Host functions of different streams may be serialised", "cuda.h:18074",
     "2 calls", Serialised},
    {"callback.calls_inside",
     "CUDA calls inside may return NOT_PERMITTED, which is not required",
     "cuda.h:18070", "figure", CallsInside, Process::kOwn},
    {"callback.not_after_error", "No call after an error in the context",
     "cuda.h:18101", "0 calls", NotAfterError, Process::kOwn},
};

}  // namespace

FactGroup CallbackFacts() { return {"callback", kFacts}; }

}  // namespace partita
