// Streams and events.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver_rules/rule.h"

namespace partita::driver_rules {
namespace {

void InOrder(Bench& bench) {
  const CUdeviceptr word = bench.Memory(4);
  for (uint32_t i = 1; i <= 20; ++i) {
    bench.Is(
        "launch",
        bench.Launch(bench.one, i % 2 == 0 ? "add_word" : "set_word", word, i));
  }
  bench.Equals("word", bench.Word(word), 39u);
}

void Priorities(Bench& bench) {
  const DriverApi& api = bench.api;
  int least = 1;
  int greatest = 1;
  int given = 1;
  CUstream stream = nullptr;
  bench.Is("range", api.CtxGetStreamPriorityRange(&least, &greatest));
  bench.Is("create", api.StreamCreateWithPriority(
                         &stream, CU_STREAM_NON_BLOCKING, greatest - 10));
  bench.Is("get", api.StreamGetPriority(stream, &given));
  bench.Equals("clamped to", given, greatest);
  bench.Is("destroy", api.StreamDestroy(stream));
}

// A stream that is not NON_BLOCKING, the legacy stream, and that one again.
void Legacy(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUstream blocking = nullptr;
  bench.Is("create", api.StreamCreate(&blocking, CU_STREAM_DEFAULT));
  bench.Is("launch", bench.Launch(blocking, "set_word", word, 5u));
  bench.Is("launch", bench.Launch(CU_STREAM_LEGACY, "add_word", word, 10u));
  bench.Is("launch", bench.Launch(blocking, "add_word", word, 100u));
  bench.Is("synchronize", api.StreamSynchronize(blocking));
  bench.Equals("word", bench.Word(word), 115u);
  bench.Is("destroy", api.StreamDestroy(blocking));
}

void DestroyPendingStream(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUstream stream = nullptr;
  bench.Is("create", api.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  bench.Is("launch", bench.Launch(stream, "set_word", word, 9u));
  bench.Is("destroy", api.StreamDestroy(stream));
  bench.Is("synchronize", api.CtxSynchronize());
  bench.Equals("word", bench.Word(word), 9u);
}

void Queries(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUevent event = bench.Event();
  bench.Is("query of an unrecorded event", api.EventQuery(event));
  bench.Is("launch", bench.Launch(bench.one, "set_word", word, 9u));
  bench.Is("record", api.EventRecord(event, bench.one));
  CUresult result = CUDA_ERROR_NOT_READY;
  while (result == CUDA_ERROR_NOT_READY) result = api.EventQuery(event);
  bench.Is("query in the end", result);
  bench.Is("query of the stream", api.StreamQuery(bench.one));
}

void WaitUnrecorded(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUevent event = bench.Event();
  bench.Is("wait", api.StreamWaitEvent(bench.one, event, 0));
  bench.Is("launch", bench.Launch(bench.one, "set_word", word, 5u));
  bench.Is("synchronize", api.StreamSynchronize(bench.one));
  bench.Equals("word", bench.Word(word), 5u);
  bench.Is("synchronize with it", api.EventSynchronize(event));
}

// Two streams take turns, by two events that are recorded again and again.
void WaitsOrder(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUevent events[] = {bench.Event(), bench.Event()};
  CUstream streams[] = {bench.one, bench.two};
  for (uint32_t i = 0; i < 20; ++i) {
    CUstream stream = streams[i % 2];
    if (i > 0) {
      bench.Is("wait", api.StreamWaitEvent(stream, events[(i + 1) % 2], 0));
    }
    bench.Is("launch",
             bench.Launch(stream, i % 3 == 0 ? "set_word" : "add_word", word,
                          i + 1));
    bench.Is("record", api.EventRecord(events[i % 2], stream));
  }
  bench.Is("synchronize", api.EventSynchronize(events[1]));
  bench.Equals("word", bench.Word(word), 19u + 20u);
}

void DestroyPendingEvent(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUevent event = nullptr;
  bench.Is("create", api.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
  bench.Is("launch", bench.Launch(bench.one, "set_word", word, 1u));
  bench.Is("record", api.EventRecord(event, bench.one));
  bench.Is("wait", api.StreamWaitEvent(bench.two, event, 0));
  bench.Is("destroy", api.EventDestroy(event));
  bench.Is("launch", bench.Launch(bench.two, "add_word", word, 2u));
  bench.Is("synchronize", api.StreamSynchronize(bench.two));
  bench.Equals("word", bench.Word(word), 3u);
}

void ElapsedTime(Bench& bench) {
  const DriverApi& api = bench.api;
  CUevent start = bench.Event(CU_EVENT_DEFAULT);
  CUevent end = bench.Event(CU_EVENT_DEFAULT);
  CUevent untimed = bench.Event();
  float ms = -1;
  bench.Is("neither recorded", api.EventElapsedTime(&ms, start, end),
           CUDA_ERROR_INVALID_HANDLE);
  bench.Is("record", api.EventRecord(start, bench.one));
  bench.Is("one recorded", api.EventElapsedTime(&ms, start, end),
           CUDA_ERROR_INVALID_HANDLE);
  bench.Is("launch", bench.Launch(bench.one, "empty"));
  bench.Is("record", api.EventRecord(end, bench.one));
  bench.Is("record", api.EventRecord(untimed, bench.one));
  bench.Is("synchronize", api.StreamSynchronize(bench.one));
  bench.Is("both recorded", api.EventElapsedTime(&ms, start, end));
  bench.Holds("time goes on", ms >= 0);
  bench.Is("the other way round", api.EventElapsedTime(&ms, end, start));
  bench.Holds("is negative or 0", ms <= 0);
  bench.Is("without timing", api.EventElapsedTime(&ms, start, untimed),
           CUDA_ERROR_INVALID_HANDLE);
}

void TwoContexts(Bench& bench) {
  const DriverApi& api = bench.api;
  CUcontext other = bench.OtherContext();
  CUevent event = bench.Event();
  CUstream there = nullptr;
  bench.Is("current", api.CtxSetCurrent(other));
  bench.Is("create", api.StreamCreate(&there, CU_STREAM_NON_BLOCKING));
  bench.Is("record in a stream of another context",
           api.EventRecord(event, there), CUDA_ERROR_INVALID_HANDLE);
  bench.Is("record in its own", api.EventRecord(event, bench.one));
  bench.Is("wait in the other", api.StreamWaitEvent(there, event, 0));
  bench.Is("synchronize", api.StreamSynchronize(there));
  bench.Is("destroy", api.StreamDestroy(there));
  bench.Is("current", api.CtxSetCurrent(bench.context));
}

void AddOne(void* number) { ++*static_cast<uint32_t*>(number); }

void HostFunctions(Bench& bench) {
  const DriverApi& api = bench.api;
  uint32_t* words = bench.Pinned(2);
  const CUdeviceptr first = reinterpret_cast<CUdeviceptr>(words);
  bench.Is("launch", bench.Launch(bench.one, "set_word", first, 40u));
  bench.Is("host function", api.LaunchHostFunc(bench.one, AddOne, words));
  bench.Is("launch", bench.Launch(bench.one, "copy_word", first + 4, first));
  bench.Is("host function", api.LaunchHostFunc(bench.one, AddOne, words));
  bench.Is("synchronize", api.StreamSynchronize(bench.one));
  bench.Equals("word 0", words[0], 42u);
  bench.Equals("word 1", words[1], 41u);
}

constexpr Rule kRules[] = {
    {"stream.in_order", "CUDA guide, streams", InOrder},
    {"stream.priorities", "cuda.h:14964", Priorities},
    {"stream.legacy", "cuda.h:14920", Legacy},
    {"stream.destroy_pending", "cuda.h:15802", DestroyPendingStream},
    {"stream.host_functions", "cuda.h:18067", HostFunctions},
    {"event.queries", "cuda.h:15963", Queries},
    {"event.wait_unrecorded", "cuda.h:15963", WaitUnrecorded},
    {"event.waits_order", "cuda.h:15957", WaitsOrder},
    {"event.destroy_pending", "cuda.h:16109", DestroyPendingEvent},
    {"event.elapsed_time", "cuda.h:16150", ElapsedTime},
    {"event.two_contexts", "cuda.h:15952", TwoContexts},
};

}  // namespace

absl::Span<const Rule> StreamRules() { return kRules; }

}  // namespace partita::driver_rules
