// Streams: the legacy stream, priorities, how many at once, their end.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <vector>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

// Does work in the legacy stream end while a stream of `flags` is held back?
absl::StatusOr<bool> LegacyPasses(const Gpu& gpu, unsigned flags) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream held, NewStream(api, flags));
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  gate.Block(held.get());
  gpu.Launch(CU_STREAM_LEGACY, "empty", {});
  api.EventRecord(event.get(), CU_STREAM_LEGACY);
  usleep(50000);
  const bool passes = api.EventQuery(event.get()) == CUDA_SUCCESS;
  gate.Open();
  api.CtxSynchronize();
  return passes;
}

absl::StatusOr<Reading> Legacy(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(const bool past_blocking,
                           LegacyPasses(gpu, CU_STREAM_DEFAULT));
  PARTITA_ASSIGN_OR_RETURN(const bool past_non_blocking,
                           LegacyPasses(gpu, CU_STREAM_NON_BLOCKING));
  Steps steps(gpu.api());
  steps.Holds("the legacy stream waits for a default stream", !past_blocking);
  steps.Holds("it passes a NON_BLOCKING stream", past_non_blocking);
  return steps.End();
}

absl::StatusOr<Reading> Priorities(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  int least = 0;
  int greatest = 0;
  Steps steps(api);
  steps.Code("range", api.CtxGetStreamPriorityRange(&least, &greatest),
             CUDA_SUCCESS);
  steps.Figure("least", least);
  steps.Figure("greatest", greatest);
  PARTITA_ASSIGN_OR_RETURN(
      OwnedStream stream,
      NewStream(api, CU_STREAM_NON_BLOCKING, greatest - 10));
  int given = 0;
  steps.Code("get", api.StreamGetPriority(stream.get(), &given), CUDA_SUCCESS);
  steps.Is("priority asked below the range is clamped to", given, greatest);
  return steps.End();
}

absl::StatusOr<Reading> DestroyPending(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(4));
  gate.Block(stream.get());
  gpu.Launch(stream.get(), "set_word", {}, word.get(), 9u);
  Steps steps(api);
  const double start = HostSeconds();
  steps.Code("destroy", api.StreamDestroy(stream.release()), CUDA_SUCCESS);
  steps.Holds("returned at once", HostSeconds() - start < 0.2);
  gate.Open();
  steps.Code("context synchronize", api.CtxSynchronize(), CUDA_SUCCESS);
  PARTITA_ASSIGN_OR_RETURN(const uint32_t seen, gpu.ReadWord(word.get()));
  steps.Is("its pending work was done: word", seen, 9u);
  return steps.End();
}

absl::StatusOr<Reading> ManyStreams(Gpu& gpu) {
  std::vector<OwnedStream> streams;
  const int64_t before = gpu.FreeBytes();
  const double start = HostSeconds();
  absl::Status status;
  while (streams.size() < 2000) {
    absl::StatusOr<OwnedStream> stream = gpu.NewStream();
    status = stream.status();
    if (!status.ok()) break;
    streams.push_back(*std::move(stream));
  }
  Steps steps(gpu.api());
  steps.Figure("streams", static_cast<double>(streams.size()));
  if (!status.ok()) steps.Note(status.message());
  steps.Figure("create_us",
               (HostSeconds() - start) * 1e6 / (streams.size() + 1));
  steps.Figure("bytes_each", static_cast<double>(before - gpu.FreeBytes()) /
                                 (streams.size() + 1));
  return steps.End();
}

// `count` one-thread kernels in as many streams, each waiting for all.
bool AllRunAtOnce(const Gpu& gpu, const std::vector<OwnedStream>& streams,
                  uint32_t count, CUdeviceptr words) {
  const DriverApi& api = gpu.api();
  api.MemsetD8Async(words, 0, 8, streams[0].get());
  api.StreamSynchronize(streams[0].get());
  for (uint32_t i = 0; i < count; ++i) {
    gpu.Launch(streams[i].get(), "await_all", {}, words, count,
               uint64_t{20000000});
  }
  api.CtxSynchronize();
  const absl::StatusOr<uint32_t> saw_all = gpu.ReadWord(words + 4);
  return saw_all.ok() && *saw_all == count;
}

absl::StatusOr<Reading> Concurrent(Gpu& gpu) {
  std::vector<OwnedStream> streams;
  for (int i = 0; i < 256; ++i) {
    PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
    streams.push_back(std::move(stream));
  }
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory words, gpu.NewMemory(8));
  Steps steps(gpu.api());
  uint32_t most = 0;
  for (const uint32_t count : {2, 4, 8, 9, 16, 17, 32, 33, 64, 128, 129, 256}) {
    if (AllRunAtOnce(gpu, streams, count, words.get())) most = count;
  }
  steps.Holds("two at once", most >= 2);
  steps.Figure("streams_at_once", most);
  const char* connections = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  steps.Note(absl::StrCat("CUDA_DEVICE_MAX_CONNECTIONS ",
                          connections ? connections : "not set"));
  return steps.End();
}

// 65 streams, the first held back: how many of the others are held with it,
// since they share its hardware queue?
absl::StatusOr<Reading> FalseDependencies(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  std::vector<OwnedStream> streams;
  for (int i = 0; i < 129; ++i) {
    PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
    streams.push_back(std::move(stream));
  }
  gate.Block(streams[0].get());
  gpu.Launch(streams[0].get(), "empty", {});
  for (OwnedStream& stream : streams) gpu.Launch(stream.get(), "empty", {});
  usleep(100000);
  int held = 0;
  for (size_t i = 1; i < streams.size(); ++i) {
    if (api.StreamQuery(streams[i].get()) == CUDA_ERROR_NOT_READY) ++held;
  }
  gate.Open();
  api.CtxSynchronize();
  Steps steps(api);
  steps.Figure("other_streams", static_cast<double>(streams.size() - 1));
  steps.Figure("held_with_the_first", held);
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"stream.legacy",
     "The legacy stream waits for streams that are not NON_BLOCKING, and for "
     "no others",
     "cuda.h:14920", "waits for default streams, passes NON_BLOCKING", Legacy},
    {"stream.priorities", "A priority outside the range is clamped to it",
     "cuda.h:14964", "clamped", Priorities},
    {"stream.destroy_pending",
     "Destroying a stream with pending work returns immediately; the work is "
     "done",
     "cuda.h:15802", "returns at once", DestroyPending},
    {"stream.many", "How many streams a context gives, and what they take",
     "none", "figure", ManyStreams, Process::kOwn},
    {"stream.at_once", "Kernels of different streams may run at the same time",
     "CUDA guide, concurrent kernels", "at least 2", Concurrent, Process::kOwn},
    {"stream.at_once_32_connections",
     "The same with CUDA_DEVICE_MAX_CONNECTIONS=32",
     "CUDA guide, environment variables", "at least 2", Concurrent,
     Process::kOwn, "CUDA_DEVICE_MAX_CONNECTIONS=32"},
    {"stream.false_dependencies",
     "Streams that share a hardware queue hold each other back", "none",
     "figure", FalseDependencies, Process::kOwn},
};

}  // namespace

FactGroup StreamFacts() { return {"stream", kFacts}; }

}  // namespace partita
