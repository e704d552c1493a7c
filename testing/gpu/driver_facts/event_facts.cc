// What events are: records, waits, queries, times, and their end.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <array>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

// Two streams, an event, a gate and a log of words in device memory.
struct Bench {
  OwnedStream first;
  OwnedStream second;
  OwnedEvent event;
  Gate gate;
  GlobalMemory log;
};

absl::StatusOr<Bench> NewBench(const Gpu& gpu,
                               unsigned event_flags = CU_EVENT_DISABLE_TIMING) {
  PARTITA_ASSIGN_OR_RETURN(OwnedStream first, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream second, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent(event_flags));
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory log, gpu.NewMemory(256));
  return Bench{std::move(first), std::move(second), std::move(event),
               std::move(gate), std::move(log)};
}

absl::StatusOr<Reading> WaitUnrecorded(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Bench bench, NewBench(gpu));
  Steps steps(api);
  steps.Code("wait",
             api.StreamWaitEvent(bench.first.get(), bench.event.get(), 0),
             CUDA_SUCCESS);
  steps.Code("launch", gpu.Launch(bench.first.get(), "set_word", {},
                                  bench.log.get(), 5u));
  steps.Code("synchronize", api.StreamSynchronize(bench.first.get()),
             CUDA_SUCCESS);
  PARTITA_ASSIGN_OR_RETURN(const uint32_t word, gpu.ReadWord(bench.log.get()));
  steps.Is("word", word, 5u);
  steps.Code("query of an unrecorded event", api.EventQuery(bench.event.get()),
             CUDA_SUCCESS);
  steps.Code("synchronize with it", api.EventSynchronize(bench.event.get()),
             CUDA_SUCCESS);
  return steps.End();
}

// The second stream waits for the first record; the event is then recorded
// again behind a closed gate.
absl::StatusOr<Reading> WaitTakesLastRecordBefore(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Bench bench, NewBench(gpu));
  Steps steps(api);
  steps.Code("record", api.EventRecord(bench.event.get(), bench.first.get()),
             CUDA_SUCCESS);
  steps.Code("wait",
             api.StreamWaitEvent(bench.second.get(), bench.event.get(), 0),
             CUDA_SUCCESS);
  steps.Code("block", bench.gate.Block(bench.first.get()), CUDA_SUCCESS);
  steps.Code("record again",
             api.EventRecord(bench.event.get(), bench.first.get()),
             CUDA_SUCCESS);
  steps.Code("synchronize the waiting stream",
             api.StreamSynchronize(bench.second.get()), CUDA_SUCCESS);
  steps.Code("query while the second record is blocked",
             api.EventQuery(bench.event.get()), CUDA_ERROR_NOT_READY);
  bench.gate.Open();
  steps.Code("synchronize", api.StreamSynchronize(bench.first.get()),
             CUDA_SUCCESS);
  return steps.End();
}

// A wait issued before the record takes no notice of it.
absl::StatusOr<Reading> WaitBeforeRecord(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Bench bench, NewBench(gpu));
  Steps steps(api);
  steps.Code("wait",
             api.StreamWaitEvent(bench.second.get(), bench.event.get(), 0),
             CUDA_SUCCESS);
  steps.Code("block", bench.gate.Block(bench.first.get()), CUDA_SUCCESS);
  steps.Code("record", api.EventRecord(bench.event.get(), bench.first.get()),
             CUDA_SUCCESS);
  const double start = HostSeconds();
  steps.Code("synchronize the waiting stream",
             api.StreamSynchronize(bench.second.get()), CUDA_SUCCESS);
  steps.Holds("did not wait", HostSeconds() - start < 0.5);
  return steps.End();
}

absl::StatusOr<Reading> WaitHolds(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Bench bench, NewBench(gpu));
  Steps steps(api);
  steps.Code("block", bench.gate.Block(bench.first.get()), CUDA_SUCCESS);
  steps.Code("append 1",
             gpu.Launch(bench.first.get(), "append", {}, bench.log.get(), 1u),
             CUDA_SUCCESS);
  steps.Code("record", api.EventRecord(bench.event.get(), bench.first.get()),
             CUDA_SUCCESS);
  steps.Code("wait",
             api.StreamWaitEvent(bench.second.get(), bench.event.get(), 0),
             CUDA_SUCCESS);
  steps.Code("append 2",
             gpu.Launch(bench.second.get(), "append", {}, bench.log.get(), 2u),
             CUDA_SUCCESS);
  usleep(20000);
  steps.Code("query the waiting stream", api.StreamQuery(bench.second.get()),
             CUDA_ERROR_NOT_READY);
  bench.gate.Open();
  steps.Code("synchronize", api.StreamSynchronize(bench.second.get()),
             CUDA_SUCCESS);
  PARTITA_ASSIGN_OR_RETURN(const uint32_t one,
                           gpu.ReadWord(bench.log.get() + 4));
  PARTITA_ASSIGN_OR_RETURN(const uint32_t two,
                           gpu.ReadWord(bench.log.get() + 8));
  steps.Is("first", one, 1u);
  steps.Is("second", two, 2u);
  return steps.End();
}

absl::StatusOr<Reading> TwoContexts(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Bench bench, NewBench(gpu));
  PARTITA_ASSIGN_OR_RETURN(OwnedContext other, gpu.NewContext());
  Steps steps(api);
  api.CtxSetCurrent(other.get());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  steps.Code("record an event of one context in a stream of another",
             api.EventRecord(bench.event.get(), stream.get()),
             CUDA_ERROR_INVALID_HANDLE);
  steps.Code("record it in its own, that context not current",
             api.EventRecord(bench.event.get(), bench.first.get()),
             CUDA_SUCCESS);
  steps.Code("wait for it in the other's stream",
             api.StreamWaitEvent(stream.get(), bench.event.get(), 0),
             CUDA_SUCCESS);
  steps.Code("synchronize the other's stream",
             api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  api.CtxSetCurrent(gpu.context());
  steps.Code("synchronize a stream of a context that is not current",
             api.StreamSynchronize(stream.get()));
  steps.Code("query an event of it", api.EventQuery(event.get()));
  return steps.End();
}

absl::StatusOr<Reading> ElapsedWithoutTiming(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Bench bench, NewBench(gpu));
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent timed, gpu.NewEvent(CU_EVENT_DEFAULT));
  api.EventRecord(bench.event.get(), bench.first.get());
  api.EventRecord(timed.get(), bench.first.get());
  api.StreamSynchronize(bench.first.get());
  float ms = 0;
  Steps steps(api);
  steps.Code("both recorded, one without timing",
             api.EventElapsedTime(&ms, bench.event.get(), timed.get()),
             CUDA_ERROR_INVALID_HANDLE);
  return steps.End();
}

absl::StatusOr<Reading> ElapsedStates(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Bench bench, NewBench(gpu, CU_EVENT_DEFAULT));
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent end, gpu.NewEvent(CU_EVENT_DEFAULT));
  float ms = 0;
  Steps steps(api);
  steps.Code("neither recorded",
             api.EventElapsedTime(&ms, bench.event.get(), end.get()),
             CUDA_ERROR_INVALID_HANDLE);
  api.EventRecord(bench.event.get(), bench.first.get());
  steps.Code("one recorded",
             api.EventElapsedTime(&ms, bench.event.get(), end.get()),
             CUDA_ERROR_INVALID_HANDLE);
  bench.gate.Block(bench.second.get());
  api.EventRecord(end.get(), bench.second.get());
  steps.Code("the end not reached",
             api.EventElapsedTime(&ms, bench.event.get(), end.get()),
             CUDA_ERROR_NOT_READY);
  usleep(50000);
  bench.gate.Open();
  api.StreamSynchronize(bench.second.get());
  steps.Code("both reached, in two streams",
             api.EventElapsedTime(&ms, bench.event.get(), end.get()),
             CUDA_SUCCESS);
  steps.Figure("elapsed_ms", ms);
  steps.Holds("between 45 and 500 ms", ms > 45 && ms < 500);
  steps.Code("the other way round",
             api.EventElapsedTime(&ms, end.get(), bench.event.get()));
  steps.Figure("reversed_ms", ms);
  return steps.End();
}

absl::StatusOr<Reading> DestroyPendingEvent(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Bench bench, NewBench(gpu));
  Steps steps(api);
  bench.gate.Block(bench.first.get());
  api.EventRecord(bench.event.get(), bench.first.get());
  api.StreamWaitEvent(bench.second.get(), bench.event.get(), 0);
  gpu.Launch(bench.second.get(), "append", {}, bench.log.get(), 2u);
  const double start = HostSeconds();
  const CUevent event = bench.event.release();
  steps.Code("destroy", api.EventDestroy(event), CUDA_SUCCESS);
  steps.Holds("returned at once", HostSeconds() - start < 0.1);
  steps.Code("the waiting stream still waits",
             api.StreamQuery(bench.second.get()), CUDA_ERROR_NOT_READY);
  bench.gate.Open();
  steps.Code("synchronize", api.StreamSynchronize(bench.second.get()),
             CUDA_SUCCESS);
  return steps.End();
}

absl::StatusOr<Reading> BlockingFlags(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(api);
  for (const bool blocking : {false, true}) {
    const unsigned flags =
        CU_EVENT_DISABLE_TIMING | (blocking ? CU_EVENT_BLOCKING_SYNC : 0);
    PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent(flags));
    const double median = MedianMicroseconds(200, [&] {
      gpu.Launch(stream.get(), "empty", {});
      api.EventRecord(event.get(), stream.get());
      api.EventSynchronize(event.get());
    });
    steps.Figure(blocking ? "launch_record_blocking_wait_us"
                          : "launch_record_spinning_wait_us",
                 median);
  }
  return steps.End();
}

absl::StatusOr<Reading> RecordCosts(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Bench bench, NewBench(gpu));
  Steps steps(api);
  steps.Figure("record_us", MedianMicroseconds(500, [&] {
                 api.EventRecord(bench.event.get(), bench.first.get());
               }));
  steps.Figure("wait_us", MedianMicroseconds(500, [&] {
                 api.StreamWaitEvent(bench.second.get(), bench.event.get(), 0);
               }));
  steps.Figure("query_us", MedianMicroseconds(500, [&] {
                 api.EventQuery(bench.event.get());
               }));
  api.CtxSynchronize();
  return steps.End();
}

// A chain that hops between two streams, by device time.
absl::StatusOr<Reading> HopLatency(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(Bench bench, NewBench(gpu));
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent start, gpu.NewEvent(CU_EVENT_DEFAULT));
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent end, gpu.NewEvent(CU_EVENT_DEFAULT));
  std::array<OwnedEvent, 200> hops;
  for (OwnedEvent& hop : hops) {
    PARTITA_ASSIGN_OR_RETURN(hop, gpu.NewEvent());
  }
  Steps steps(api);
  for (const bool hopping : {false, true}) {
    PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
    gate.Block(bench.first.get());
    api.EventRecord(start.get(), bench.first.get());
    CUstream stream = bench.first.get();
    for (OwnedEvent& hop : hops) {
      gpu.Launch(stream, "empty", {});
      if (!hopping) continue;
      api.EventRecord(hop.get(), stream);
      stream =
          stream == bench.first.get() ? bench.second.get() : bench.first.get();
      api.StreamWaitEvent(stream, hop.get(), 0);
    }
    api.EventRecord(end.get(), stream);
    gate.Open();
    steps.Code("synchronize", api.StreamSynchronize(stream));
    float ms = 0;
    api.EventElapsedTime(&ms, start.get(), end.get());
    steps.Figure(hopping ? "kernel_and_hop_us" : "kernel_in_one_stream_us",
                 ms * 1e3 / hops.size());
  }
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"event.wait_unrecorded",
     "An event that was never recorded is an empty set of work: waits pass",
     "cuda.h:15963", "CUDA_SUCCESS; the stream goes on", WaitUnrecorded},
    {"event.wait_takes_last_record_before",
     "A wait takes the last record before the call; later records do not "
     "matter",
     "cuda.h:15960", "the waiting stream ends while the event is recorded anew",
     WaitTakesLastRecordBefore},
    {"event.wait_before_record",
     "A wait issued before the first record does not wait for that record",
     "cuda.h:15963", "the waiting stream ends at once", WaitBeforeRecord},
    {"event.wait_holds", "A wait holds the stream until the record is reached",
     "cuda.h:15236", "NOT_READY before, order 1 2 after", WaitHolds},
    {"event.two_contexts",
     "Record needs event and stream of one context; a wait does not",
     "cuda.h:15952, 15239", "record INVALID_HANDLE, wait SUCCESS", TwoContexts},
    {"event.elapsed_without_timing",
     "Elapsed time of an event with DISABLE_TIMING is INVALID_HANDLE",
     "cuda.h:16154", "CUDA_ERROR_INVALID_HANDLE", ElapsedWithoutTiming},
    {"event.elapsed_states",
     "Elapsed time: INVALID_HANDLE unrecorded, NOT_READY pending, else a time, "
     "across streams too",
     "cuda.h:16150", "INVALID_HANDLE, NOT_READY, then 50 ms", ElapsedStates},
    {"event.destroy_pending",
     "Destroying a pending event does not block, and its waits still hold",
     "cuda.h:16109", "returns at once; the wait holds", DestroyPendingEvent},
    {"event.wait_on_host", "Launch, record and wait on the host", "none",
     "figure", BlockingFlags},
    {"event.call_costs", "Host time of record, wait and query", "none",
     "figure", RecordCosts},
    {"event.hop_latency",
     "Device time of a kernel and an event hop between streams", "none",
     "figure", HopLatency},
};

}  // namespace

FactGroup EventFacts() { return {"event", kFacts}; }

}  // namespace partita
