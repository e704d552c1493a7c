// Planted bugs in the order of work are found in every schedule.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/emulated_gpu/driver/emulated_cuda.h"
#include "testing/emulated_gpu/driver/program_run.h"

namespace partita::emulated_gpu {
namespace {

using driver_rules::Bench;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Two GPUs hand a word to and fro, through a page-locked word.

enum class Bug {
  kNone,
  kNoneAndNoValues,  // nobody looks at what was computed
  kMissingWait,
  kDroppedRecord,
  kWaitBeforeRecord,
  kFreeBeforeUse,
  kHostDoesNotWait,
};

// near = 5; far = near + 10 by a peer copy; host = far; near = host + 100.
void HandToAndFro(Bench& bench, Bug bug) {
  const DriverApi& api = bench.api;
  const CUdeviceptr near = bench.Memory(64);
  void* memory = nullptr;
  bench.Is("alloc", api.MemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_PORTABLE));
  const auto* host = static_cast<const uint32_t*>(memory);
  CUevent event = bench.Event();
  CUevent unused = bench.Event();
  SecondGpu far(bench);
  bench.Is("record", api.EventRecord(unused, bench.two));
  bench.Is("launch", bench.Launch(bench.one, "set_word", near, 5u));
  if (bug == Bug::kWaitBeforeRecord) {
    bench.Is("record early", api.EventRecord(event, bench.two));
    bench.Is("wait", api.StreamWaitEvent(far.stream, event, 0));
  }
  bench.Is("record",
           api.EventRecord(bug == Bug::kDroppedRecord ? unused : event,
                           bug == Bug::kDroppedRecord ? bench.two : bench.one));
  if (bug == Bug::kDroppedRecord) {
    bench.Is("wait", api.StreamWaitEvent(far.stream, unused, 0));
  } else if (bug != Bug::kMissingWait && bug != Bug::kWaitBeforeRecord) {
    bench.Is("wait", api.StreamWaitEvent(far.stream, event, 0));
  }
  bench.Is("peer copy", api.MemcpyPeerAsync(far.memory, far.context, near,
                                            bench.context, 64, far.stream));
  bench.Is("launch", bench.Launch(far.stream, "add_word", far.memory, 10u));
  bench.Is("fetch", api.MemcpyDtoHAsync(memory, far.memory, 64, far.stream));
  bench.Is("record", api.EventRecord(far.event, far.stream));
  if (bug == Bug::kFreeBeforeUse) {
    bench.Is("current", api.CtxSetCurrent(far.context));
    bench.Is("free", api.MemFree(far.memory));
    far.memory = 0;
    bench.Is("current", api.CtxSetCurrent(bench.context));
  }
  bench.Is("wait", api.StreamWaitEvent(bench.one, far.event, 0));
  bench.Is("feed", api.MemcpyHtoDAsync(near, host, 64, bench.one));
  bench.Is("launch", bench.Launch(bench.one, "add_word", near, 100u));
  if (bug != Bug::kHostDoesNotWait) {
    bench.Is("synchronize", api.StreamSynchronize(bench.one));
  }
  if (bug == Bug::kNone) {
    EXPECT_EQ(host[0], 15u);
    EXPECT_EQ(bench.Word(near), 115u);
  }
  bench.Is("free", api.MemFreeHost(memory));
}

TEST(Ordering, ASoundProgramHasNoFindingsAndEqualValues) {
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(FindingsOf([](Bench& b) { HandToAndFro(b, Bug::kNone); },
                           ScheduleOptions(seed)),
                IsEmpty());
  }
}

TEST(Ordering, ASoundProgramIsSoundHoweverDoubtsAreRead) {
  for (const auto& [name, readings] : AllReadings()) {
    SCOPED_TRACE(name);
    for (uint64_t seed = 0; seed < kSchedules; ++seed) {
      EmulatedGpuOptions options = ScheduleOptions(seed);
      options.readings = readings;
      EXPECT_THAT(
          FindingsOf([](Bench& b) { HandToAndFro(b, Bug::kNone); }, options),
          IsEmpty());
    }
  }
}

TEST(Ordering, AMissingWaitIsARaceInEverySchedule) {
  EXPECT_EQ(MissingInSchedules(
                "race", [](Bench& b) { HandToAndFro(b, Bug::kMissingWait); }),
            "");
}

TEST(Ordering, ADroppedRecordIsARaceInEverySchedule) {
  EXPECT_EQ(MissingInSchedules(
                "race", [](Bench& b) { HandToAndFro(b, Bug::kDroppedRecord); }),
            "");
}

TEST(Ordering, AWaitBeforeItsRecordIsARaceInEverySchedule) {
  EXPECT_EQ(
      MissingInSchedules(
          "race", [](Bench& b) { HandToAndFro(b, Bug::kWaitBeforeRecord); }),
      "");
}

TEST(Ordering, AFreeBeforeTheLastUseIsARaceInEverySchedule) {
  EXPECT_EQ(MissingInSchedules(
                "cuMemFree of block",
                [](Bench& b) { HandToAndFro(b, Bug::kFreeBeforeUse); }),
            "");
}

TEST(Ordering, PageLockedMemoryIsFreedTooEarly) {
  EXPECT_EQ(MissingInSchedules(
                "cuMemFreeHost of page-locked block",
                [](Bench& b) { HandToAndFro(b, Bug::kHostDoesNotWait); }),
            "");
}

TEST(Ordering, TheHostMustNotChangeStagingBeforeTheCopyRuns) {
  const auto texts = FindingsOf(
      [](Bench& bench) {
        const CUdeviceptr to = bench.Memory(4);
        uint32_t* staging = bench.Pinned(1);
        bench.Is("feed", bench.api.MemcpyHtoDAsync(to, staging, 4, bench.one));
        *staging = 2;
        bench.Is("synchronize", bench.api.StreamSynchronize(bench.one));
        *staging = 3;
      },
      {});
  ASSERT_EQ(texts.size(), 1);
  EXPECT_THAT(texts[0], HasSubstr("race: copy of 4 bytes"));
  EXPECT_THAT(texts[0], HasSubstr("which the host changed after the call"));
}

TEST(Ordering, AWaitForAnEventNeverRecordedIsReported) {
  EXPECT_EQ(MissingInSchedules("unrecorded wait",
                               [](Bench& bench) {
                                 bench.Is("wait",
                                          bench.api.StreamWaitEvent(
                                              bench.one, bench.Event(), 0));
                               }),
            "");
}

// top -> left, right -> bottom; one edge may be missing.
void Diamond(Bench& bench, int missing) {
  const CUdeviceptr words = bench.Memory(64);
  CUgraph graph = bench.Graph();
  const auto after = [&](int edge, CUgraphNode node) {
    return edge == missing ? std::vector<CUgraphNode>{}
                           : std::vector<CUgraphNode>{node};
  };
  const CUgraphNode top = bench.AddKernel(graph, {}, "set_word", words, 7u);
  const CUgraphNode left =
      bench.AddKernel(graph, after(1, top), "copy_word", words + 4, words);
  const CUgraphNode right =
      bench.AddKernel(graph, after(2, top), "copy_word", words + 8, words);
  std::vector<CUgraphNode> before = after(3, left);
  for (CUgraphNode node : after(4, right)) before.push_back(node);
  bench.AddKernel(graph, before, "set_word", words, 9u);
  bench.Run(graph);
  if (missing != 0) return;
  EXPECT_EQ(bench.Word(words), 9u);
  EXPECT_EQ(bench.Word(words + 4), 7u);
  EXPECT_EQ(bench.Word(words + 8), 7u);
}

TEST(Ordering, EveryMissingEdgeOfAGraphIsARaceInEverySchedule) {
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    EXPECT_THAT(
        FindingsOf([](Bench& b) { Diamond(b, 0); }, ScheduleOptions(seed)),
        IsEmpty());
  }
  for (int missing = 1; missing <= 4; ++missing) {
    SCOPED_TRACE(missing);
    EXPECT_EQ(MissingInSchedules(
                  "race", [&](Bench& bench) { Diamond(bench, missing); }),
              "");
  }
}

// Runs a sound program whose call of this number fails; returns how many calls
// it made.
int64_t RunWithFailure(int64_t fail_call) {
  EmulatedGpuOptions options = ScheduleOptions(0);
  options.fail_call = fail_call;
  options.fail_with = CUDA_ERROR_NOT_PERMITTED;
  auto cuda = EmulatedCuda::New(options);
  if (!cuda.ok()) {
    ADD_FAILURE() << cuda.status();
    return 0;
  }
  {
    Bench bench((*cuda)->api());
    HandToAndFro(bench, Bug::kNoneAndNoValues);
    Diamond(bench, -1);
    if (fail_call == 0) {
      EXPECT_EQ(bench.faults(), "");
    }
  }
  for (const Finding& leak : (*cuda)->leaks()) {
    ADD_FAILURE() << "call " << fail_call << " failed: " << TextOf(leak);
  }
  return (*cuda)->calls();
}

// Every call fails once, in turn: nothing hangs, and what a program gives back
// is back.
TEST(Ordering, EveryCallMayFail) {
  const int64_t calls = RunWithFailure(0);
  ASSERT_GT(calls, 60);
  for (int64_t call = 1; call <= calls; ++call) RunWithFailure(call);
}

}  // namespace
}  // namespace partita::emulated_gpu
