// What the host finds in its memory before and after it knows that work which
// writes there is over.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/emulated_gpu/driver/emulated_cuda.h"
#include "testing/emulated_gpu/driver/program_run.h"

namespace partita::emulated_gpu {
namespace {

using driver_rules::Bench;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CUdeviceptr AddressOf(const uint32_t* word) {
  return reinterpret_cast<CUdeviceptr>(word);
}

// ---- Readers that come too early. The word was 1, work writes 5 there, and
// the host reads it after a wait for an event in front of that work.

enum class Target { kPageLocked, kRegistered, kPageable };
enum class Work { kCopy, kFill, kKernel, kGraph };

struct Case {
  Target target;
  Work work;
};

std::string NameOf(const Case& tested) {
  static const auto& targets =
      *new std::map<Target, std::string>{{Target::kPageLocked, "page-locked"},
                                         {Target::kRegistered, "registered"},
                                         {Target::kPageable, "pageable"}};
  static const auto& works =
      *new std::map<Work, std::string>{{Work::kCopy, "copy"},
                                       {Work::kFill, "fill"},
                                       {Work::kKernel, "kernel"},
                                       {Work::kGraph, "graph"}};
  return absl::StrCat(works.at(tested.work), " to ", targets.at(tested.target));
}

// Kernels and fills need memory that is mapped for the device.
constexpr Case kCases[] = {
    {Target::kPageLocked, Work::kCopy},   {Target::kPageLocked, Work::kFill},
    {Target::kPageLocked, Work::kKernel}, {Target::kPageLocked, Work::kGraph},
    {Target::kRegistered, Work::kCopy},   {Target::kRegistered, Work::kKernel},
    {Target::kPageable, Work::kCopy},     {Target::kPageable, Work::kGraph},
};

void Issue(Bench& bench, Work work, uint32_t* word, CUdeviceptr five) {
  switch (work) {
    case Work::kCopy:
      bench.Is("copy", bench.api.MemcpyDtoHAsync(word, five, 4, bench.one));
      return;
    case Work::kFill:
      bench.Is("fill",
               bench.api.MemsetD32Async(AddressOf(word), 5, 1, bench.one));
      return;
    case Work::kKernel:
      bench.Is("launch",
               bench.Launch(bench.one, "set_word", AddressOf(word), 5u));
      return;
    case Work::kGraph: {
      CUgraph graph = bench.Graph();
      CUgraphExec exec = nullptr;
      bench.AddCopy(graph, {}, AddressOf(word), five, 4);
      bench.Is("instantiate", bench.api.GraphInstantiate(&exec, graph, 0));
      bench.Is("launch", bench.api.GraphLaunch(exec, bench.one));
      bench.Is("destroy", bench.api.GraphExecDestroy(exec));
      return;
    }
  }
}

struct Seen {
  uint32_t early = 0;
  uint32_t late = 0;
};

Seen ReadEarlyAndLate(Bench& bench, const Case& tested) {
  const DriverApi& api = bench.api;
  Seen seen;
  uint32_t of_program = 1;
  uint32_t* word = &of_program;
  if (tested.target == Target::kPageLocked) word = bench.Pinned(1);
  if (tested.target == Target::kRegistered) {
    bench.Is("register", api.MemHostRegister(word, 4, 0));
  }
  *word = 1;
  const CUdeviceptr five = bench.Memory(4);
  bench.Is("launch", bench.Launch(bench.one, "set_word", five, 5u));
  CUevent before = bench.Event();
  bench.Is("record", api.EventRecord(before, bench.one));
  Issue(bench, tested.work, word, five);
  bench.Is("wait", api.EventSynchronize(before));
  seen.early = *word;
  CUevent after = bench.Event();
  bench.Is("record", api.EventRecord(after, bench.one));
  CUresult result = CUDA_ERROR_NOT_READY;
  while (result == CUDA_ERROR_NOT_READY) result = api.EventQuery(after);
  bench.Is("query", result);
  seen.late = *word;
  if (tested.target == Target::kRegistered) {
    bench.Is("unregister", api.MemHostUnregister(word));
  }
  return seen;
}

// Pageable memory is written late only where the driver does not wait.
EmulatedGpuOptions HostViewOptions(uint64_t seed) {
  EmulatedGpuOptions options = ScheduleOptions(seed);
  options.readings.pageable_fetches_wait = false;
  return options;
}

TEST(HostView, AReaderThatComesTooEarlyIsWrongInEverySchedule) {
  for (const Case& tested : kCases) {
    for (uint64_t seed = 0; seed < kSchedules; ++seed) {
      SCOPED_TRACE(absl::StrCat(NameOf(tested), ", seed ", seed));
      Seen seen;
      EXPECT_THAT(
          FindingsOf([&](Bench& b) { seen = ReadEarlyAndLate(b, tested); },
                     HostViewOptions(seed)),
          IsEmpty());
      EXPECT_NE(seen.early, 5u);
      EXPECT_EQ(seen.late, 5u);
    }
  }
}

// Of a copy that may arrive early, the seeds show both; where work is as late
// as can be, bytes are as well.
TEST(HostView, TheSeedSaysWhetherBytesArriveEarly) {
  int right = 0;
  int wrong = 0;
  for (uint64_t seed = 0; seed < 6 * kSchedules; ++seed) {
    EmulatedGpuOptions options = HostViewOptions(seed);
    options.readings.writes_arrive_early = true;
    Seen seen;
    EXPECT_THAT(
        FindingsOf(
            [&](Bench& b) {
              seen = ReadEarlyAndLate(b, {Target::kPageLocked, Work::kCopy});
            },
            options),
        IsEmpty());
    EXPECT_EQ(seen.late, 5u);
    const bool is_late = options.order == Order::kLateWaits ||
                         options.order == Order::kStarveOneStream;
    if (is_late) {
      EXPECT_NE(seen.early, 5u);
    }
    (seen.early == 5u ? right : wrong) += 1;
  }
  EXPECT_GT(right, 0);
  EXPECT_GT(wrong, 0);
}

// ---- Sound programs.

void ExpectSound(const std::string& name, const Program& program) {
  for (const bool early : {false, true}) {
    for (uint64_t seed = 0; seed < kSchedules; ++seed) {
      SCOPED_TRACE(absl::StrCat(name, ", seed ", seed, ", early ", early));
      EmulatedGpuOptions options = HostViewOptions(seed);
      options.readings.writes_arrive_early = early;
      EXPECT_THAT(FindingsOf(program, options), IsEmpty());
    }
  }
}

// The device reads what the host must not read yet.
TEST(HostView, DeviceWorkSeesTheBytesAtOnce) {
  ExpectSound("chain", [](Bench& bench) {
    const DriverApi& api = bench.api;
    uint32_t* words = bench.Pinned(4);
    const CUdeviceptr memory = bench.Memory(16);
    const CUdeviceptr host = AddressOf(words);
    CUevent event = bench.Event();
    words[1] = 7;
    bench.Is("set", bench.Launch(bench.one, "set_word", host, 5u));
    bench.Is("add", bench.Launch(bench.one, "add_word", host, 10u));
    bench.Is("feed", api.MemcpyHtoDAsync(memory, words, 16, bench.one));
    bench.Is("record", api.EventRecord(event, bench.one));
    bench.Is("wait", api.StreamWaitEvent(bench.two, event, 0));
    bench.Is("copy", bench.Launch(bench.two, "copy_word", host + 8, host));
    bench.Is("fill", api.MemsetD32Async(host, 9, 1, bench.two));
    bench.Is("copy", bench.Launch(bench.two, "copy_word", host + 12, host));
    bench.Is("synchronize", api.StreamSynchronize(bench.two));
    bench.Equals("filled", words[0], 9u);
    bench.Equals("of the host", words[1], 7u);
    bench.Equals("before the fill", words[2], 15u);
    bench.Equals("after the fill", words[3], 9u);
    bench.Equals("fed", bench.Word(memory), 15u);
    bench.Equals("fed, of the host", bench.Word(memory + 4), 7u);
  });
}

// Writes that overlap: the host knows of the first, then of both.
TEST(HostView, TheLastOfOverlappingWritesCounts) {
  ExpectSound("overlap", [](Bench& bench) {
    const DriverApi& api = bench.api;
    uint32_t* words = bench.Pinned(4);
    const CUdeviceptr host = AddressOf(words);
    CUevent first = bench.Event();
    bench.Is("fill", api.MemsetD32Async(host, 1, 3, bench.one));
    bench.Is("record", api.EventRecord(first, bench.one));
    bench.Is("fill", api.MemsetD32Async(host + 4, 2, 3, bench.one));
    bench.Is("wait", api.EventSynchronize(first));
    bench.Equals("word 0, which the second leaves", words[0], 1u);
    bench.Is("synchronize", api.StreamSynchronize(bench.one));
    for (int i = 1; i < 4; ++i) bench.Equals("word", words[i], 2u);
  });
}

// A buffer goes round: fed, fetched, changed by the host, and again.
TEST(HostView, AReusedBufferBelongsToTheHost) {
  ExpectSound("reuse", [](Bench& bench) {
    const DriverApi& api = bench.api;
    uint32_t* word = bench.Pinned(1);
    const CUdeviceptr memory = bench.Memory(4);
    for (uint32_t i = 0; i < 8; ++i) {
      *word = 10 * i;
      bench.Is("feed", api.MemcpyHtoDAsync(memory, word, 4, bench.one));
      bench.Is("add", bench.Launch(bench.one, "add_word", memory, 1u));
      bench.Is("fetch", api.MemcpyDtoHAsync(word, memory, 4, bench.one));
      bench.Is("synchronize", api.StreamSynchronize(bench.one));
      bench.Equals("word", *word, 10 * i + 1);
      *word = 3;
      bench.Is("another wait", api.CtxSynchronize());
      bench.Equals("what the host wrote", *word, 3u);
    }
  });
}

// A host function reads what is written in front of it; what comes after it is
// not written before it has run.
TEST(HostView, HostFunctionsKnowWhatIsInFrontOfThem) {
  struct Read {
    const uint32_t* word;
    uint32_t seen;
  };
  ExpectSound("host function", [](Bench& bench) {
    const DriverApi& api = bench.api;
    uint32_t* word = bench.Pinned(1);
    Read read = {word, 0};
    const CUhostFn keep = [](void* argument) {
      auto* const kept = static_cast<Read*>(argument);
      kept->seen = *kept->word;
    };
    bench.Is("fill", api.MemsetD32Async(AddressOf(word), 5, 1, bench.one));
    bench.Is("host function", api.LaunchHostFunc(bench.one, keep, &read));
    bench.Is("fill", api.MemsetD32Async(AddressOf(word), 6, 1, bench.one));
    bench.Is("synchronize", api.StreamSynchronize(bench.one));
    bench.Equals("seen by the function", read.seen, 5u);
    bench.Equals("in the end", *word, 6u);
  });
}

// Each launch of a captured copy writes anew.
TEST(HostView, EachLaunchOfAGraphWritesAnew) {
  ExpectSound("graph", [](Bench& bench) {
    const DriverApi& api = bench.api;
    uint32_t* word = bench.Pinned(1);
    const CUdeviceptr memory = bench.Memory(4);
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    *word = 1;
    bench.Is("begin", api.StreamBeginCapture(
                          bench.one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    bench.Is("add", bench.Launch(bench.one, "add_word", memory, 1u));
    bench.Is("fetch", api.MemcpyDtoHAsync(word, memory, 4, bench.one));
    bench.Is("end", api.StreamEndCapture(bench.one, &graph));
    bench.Equals("while nothing is launched", *word, 1u);
    bench.Is("instantiate", api.GraphInstantiate(&exec, graph, 0));
    for (uint32_t i = 1; i <= 3; ++i) {
      bench.Is("launch", api.GraphLaunch(exec, bench.one));
      bench.Is("synchronize", api.StreamSynchronize(bench.one));
      bench.Equals("word", *word, i);
    }
    bench.Is("destroy", api.GraphExecDestroy(exec));
    bench.Is("destroy", api.GraphDestroy(graph));
  });
}

// Times of events are given when both are reached.
TEST(HostView, AnElapsedTimeTellsThatTheEventsAreReached) {
  ExpectSound("elapsed time", [](Bench& bench) {
    const DriverApi& api = bench.api;
    uint32_t* word = bench.Pinned(1);
    CUevent start = bench.Event(CU_EVENT_DEFAULT);
    CUevent end = bench.Event(CU_EVENT_DEFAULT);
    float ms = 0;
    bench.Is("record", api.EventRecord(start, bench.one));
    bench.Is("fill", api.MemsetD32Async(AddressOf(word), 5, 1, bench.one));
    bench.Is("record", api.EventRecord(end, bench.one));
    CUresult result = CUDA_ERROR_NOT_READY;
    while (result == CUDA_ERROR_NOT_READY) {
      bench.Is("of another stream", api.StreamQuery(bench.two));
      result = api.EventElapsedTime(&ms, start, end);
    }
    bench.Is("elapsed", result);
    bench.Equals("word", *word, 5u);
  });
}

// ---- What must not happen.

TEST(HostView, AWriterThatComesTooEarlyIsARaceInEverySchedule) {
  EXPECT_EQ(MissingInSchedules(
                "which the host changed before it knew that this is over",
                [](Bench& bench) {
                  uint32_t* word = bench.Pinned(1);
                  bench.Is("fill", bench.api.MemsetD32Async(AddressOf(word), 5,
                                                            1, bench.one));
                  *word = 3;
                  bench.Is("synchronize",
                           bench.api.StreamSynchronize(bench.one));
                  bench.Equals("word", *word, 3u);
                }),
            "");
}

// After cuMemHostUnregister the memory is the program's, even if it did not
// wait.
TEST(HostView, MemoryThatIsGivenBackIsNotWritten) {
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    SCOPED_TRACE(seed);
    uint32_t word = 1;
    const auto texts = FindingsOf(
        [&](Bench& bench) {
          const DriverApi& api = bench.api;
          bench.Is("register", api.MemHostRegister(&word, 4, 0));
          bench.Is("launch",
                   bench.Launch(bench.one, "set_word", AddressOf(&word), 5u));
          bench.Is("unregister", api.MemHostUnregister(&word));
          word = 0xffffffff;  // may be the poison
          bench.Is("synchronize", api.CtxSynchronize());
        },
        ScheduleOptions(seed));
    EXPECT_EQ(word, 0xffffffffu);
    ASSERT_THAT(texts, SizeIs(1));
    EXPECT_THAT(texts[0], HasSubstr("cuMemHostUnregister of registered block"));
  }
}

// An illegal address ends the context: its work is never over, and what the
// host does with its memory afterwards stands.
TEST(HostView, AfterAnErrorNothingIsWritten) {
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    SCOPED_TRACE(seed);
    uint32_t word = 1;
    const auto texts = FindingsOf(
        [&](Bench& bench) {
          const DriverApi& api = bench.api;
          bench.Is("register", api.MemHostRegister(&word, 4, 0));
          bench.Is("launch",
                   bench.Launch(bench.one, "set_word", AddressOf(&word), 5u));
          bench.Is("stray",
                   bench.Launch(bench.one, "set_word", CUdeviceptr{64}, 5u));
          bench.Is("synchronize", api.StreamSynchronize(bench.one),
                   CUDA_ERROR_ILLEGAL_ADDRESS);
          word = 0xffffffff;
        },
        HostViewOptions(seed));
    EXPECT_EQ(word, 0xffffffffu);
    ASSERT_FALSE(texts.empty());
    EXPECT_THAT(texts[0], HasSubstr("foreign memory: kernel set_word"));
  }
}

}  // namespace
}  // namespace partita::emulated_gpu
