// Each doubt about the driver, read both ways.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/readings.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/emulated_gpu/driver/program_run.h"

namespace partita::emulated_gpu {
namespace {

using driver_rules::Bench;

// Work of stream one that has to be done before the call returns, if that
// waits: a host function, which is not run before the host waits.
class WorkInFront {
 public:
  explicit WorkInFront(Bench& bench) {
    const CUhostFn raise = [](void* flag) { *static_cast<bool*>(flag) = true; };
    bench.Is("host function",
             bench.api.LaunchHostFunc(bench.one, raise, &is_done_));
  }
  bool is_done() const { return is_done_; }

 private:
  bool is_done_ = false;
};

// Whether the call waits for earlier work of its stream.
template <typename Call>
bool Waits(Bench& bench, Call call) {
  const WorkInFront work(bench);
  bench.Is("call", call());
  const bool waited = work.is_done();
  bench.Is("synchronize", bench.api.CtxSynchronize());
  return waited;
}

template <typename Copy>
bool IsCaptured(Bench& bench, Copy copy) {
  const DriverApi& api = bench.api;
  CUgraph graph = nullptr;
  bench.Is("begin", api.StreamBeginCapture(
                        bench.one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  const bool copied = copy() == CUDA_SUCCESS;
  const bool captured = api.StreamEndCapture(bench.one, &graph) == CUDA_SUCCESS;
  bench.Equals("the capture goes on if the copy is in it", captured, copied);
  if (captured) bench.Is("destroy", api.GraphDestroy(graph));
  return captured;
}

bool CapturesPeerCopies(Bench& bench) {
  const CUdeviceptr from = bench.Memory(64);
  const CUdeviceptr to = bench.Memory(64);
  return IsCaptured(bench, [&] {
    return bench.api.MemcpyPeerAsync(to, bench.context, from, bench.context, 64,
                                     bench.one);
  });
}

bool CapturesDeviceCopies(Bench& bench) {
  const CUdeviceptr here = bench.Memory(64);
  const SecondGpu there(bench);
  return IsCaptured(bench, [&] {
    return bench.api.MemcpyAsync(there.memory, here, 64, bench.one);
  });
}

bool LoadingWaits(Bench& bench) {
  return Waits(bench, [&] {
    CUfunction function = nullptr;
    return bench.api.KernelGetFunction(&function, bench.Kernel("set_word"));
  });
}

bool LaunchesWait(Bench& bench) {
  bench.Is("loaded", bench.Launch(bench.one, "empty"));
  return Waits(bench, [&] { return bench.Launch(bench.one, "empty"); });
}

bool QueuesAreShort(Bench& bench) {
  const CUdeviceptr word = bench.Memory(4);
  return Waits(bench,
               [&] { return bench.api.MemsetD32Async(word, 1, 1, bench.one); });
}

bool PageableCopiesWait(Bench& bench) {
  const CUdeviceptr word = bench.Memory(4);
  const uint32_t source = 1;
  return Waits(bench, [&] {
    return bench.api.MemcpyHtoDAsync(word, &source, 4, bench.one);
  });
}

bool PageableFetchesWait(Bench& bench) {
  const CUdeviceptr word = bench.Memory(4);
  uint32_t target = 0;
  return Waits(bench, [&] {
    return bench.api.MemcpyDtoHAsync(&target, word, 4, bench.one);
  });
}

// Whether the host finds some of what was written before it knows of that:
// queries of one stream run work of the other.
bool WritesArriveEarly(Bench& bench) {
  constexpr int kWords = 16;
  uint32_t* words = bench.Pinned(kWords);
  for (int i = 0; i < kWords; ++i) {
    bench.Is("fill",
             bench.api.MemsetD32Async(reinterpret_cast<CUdeviceptr>(words + i),
                                      5, 1, bench.one));
  }
  for (int i = 0; i < 4 * kWords; ++i) {
    bench.Is("query", bench.api.StreamQuery(bench.two));
  }
  const bool arrived =
      std::any_of(words, words + kWords, [](uint32_t w) { return w == 5; });
  bench.Is("synchronize", bench.api.CtxSynchronize());
  return arrived;
}

bool FreesWait(Bench& bench) {
  CUdeviceptr word = 0;
  bench.Is("alloc", bench.api.MemAlloc(&word, 4));
  return Waits(bench, [&] { return bench.api.MemFree(word); });
}

// Whether a driver read so does what the doubt is about.
bool Does(const std::string& doubt, const Readings& readings) {
  using Question = bool (*)(Bench&);
  static const auto& questions = *new std::map<std::string, Question>{
      {"peer_copy_captures", CapturesPeerCopies},
      {"device_copy_captures", CapturesDeviceCopies},
      {"loading_waits", LoadingWaits},
      {"launches_wait", LaunchesWait},
      {"queues_are_short", QueuesAreShort},
      {"pageable_copies_wait", PageableCopiesWait},
      {"pageable_fetches_wait", PageableFetchesWait},
      {"writes_arrive_early", WritesArriveEarly},
      {"frees_wait", FreesWait}};
  EmulatedGpuOptions options = ScheduleOptions(0);
  options.readings = readings;
  auto cuda = EmulatedCuda::New(options);
  EXPECT_TRUE(cuda.ok()) << cuda.status();
  Bench bench((*cuda)->api());
  const bool does = questions.at(doubt)(bench);
  EXPECT_EQ(bench.faults(), "");
  return does;
}

TEST(Readings, EachIsOneWayOfTheDriver) {
  for (const Doubt& doubt : Doubts()) {
    SCOPED_TRACE(doubt.name);
    Readings readings;
    for (const bool reading : {false, true}) {
      readings.*doubt.reading = reading;
      EXPECT_EQ(Does(doubt.name, readings), reading);
    }
  }
}

// A short queue holds a host back whatever else does.
TEST(Readings, NoneChangesAnother) {
  for (const Doubt& asked : Doubts()) {
    for (const Doubt& other : Doubts()) {
      SCOPED_TRACE(absl::StrCat(asked.name, " beside ", other.name));
      Readings readings;
      const bool before = Does(asked.name, readings);
      readings.*other.reading = !(readings.*other.reading);
      const bool same = asked.reading == other.reading;
      const bool held = other.reading == &Readings::queues_are_short &&
                        (asked.reading == &Readings::launches_wait ||
                         asked.reading == &Readings::pageable_copies_wait);
      EXPECT_EQ(Does(asked.name, readings), (same || held) != before);
    }
  }
}

TEST(Readings, TheEnvironmentSetsThem) {
  setenv("PARTITA_EMULATED_LAUNCHES_WAIT", "1", /*overwrite=*/1);
  setenv("PARTITA_EMULATED_FREES_WAIT", "0", /*overwrite=*/1);
  const auto options = OptionsFromEnvironment();
  ASSERT_TRUE(options.ok()) << options.status();
  Readings expected;
  expected.launches_wait = true;
  expected.frees_wait = false;
  EXPECT_EQ(options->readings, expected);
  unsetenv("PARTITA_EMULATED_LAUNCHES_WAIT");
  unsetenv("PARTITA_EMULATED_FREES_WAIT");
}

TEST(Readings, OtherValuesAreRefused) {
  for (const char* value : {"", "2", "yes"}) {
    setenv("PARTITA_EMULATED_FREES_WAIT", value, /*overwrite=*/1);
    EXPECT_EQ(OptionsFromEnvironment().status(),
              absl::InvalidArgumentError(
                  absl::StrCat("PARTITA_EMULATED_FREES_WAIT: found \"", value,
                               "\"; expected 0 or 1")));
  }
  unsetenv("PARTITA_EMULATED_FREES_WAIT");
}

TEST(Readings, TheListHasEachDoubtTheOtherWay) {
  const std::vector<NamedReadings> all = AllReadings();
  ASSERT_EQ(all.size(), Doubts().size() + 2);
  EXPECT_EQ(all.front().readings, Readings());
  for (size_t i = 0; i < Doubts().size(); ++i) {
    const Doubt& doubt = Doubts()[i];
    EXPECT_EQ(all[i + 1].name, doubt.name);
    EXPECT_NE(all[i + 1].readings.*doubt.reading, Readings().*doubt.reading);
    EXPECT_NE(all.back().readings.*doubt.reading, Readings().*doubt.reading);
  }
}

}  // namespace
}  // namespace partita::emulated_gpu
