// Packs live ranges of random tasks, and of a stage of a pipeline.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/pack_by_time.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "placement/lower/conflicts.h"
#include "placement/lower/random_storages.h"

namespace partita {
namespace {

std::vector<TaskId> AllTasks(int tasks) {
  std::vector<TaskId> all;
  for (int t = 0; t < tasks; ++t) all.push_back(TaskId(t));
  return all;
}

// Needs: FindConflicts.
void ExpectNoOverlap(const DeviceStorages& storages, const Packing& packing) {
  const auto& intervals = storages.problem.intervals;
  for (PackIntervalId a : intervals.ids()) {
    const int64_t offset = packing.offsets[intervals[a].buffer];
    ASSERT_GE(offset, 0);
    ASSERT_LE(offset + intervals[a].end, packing.bytes);
    for (PackIntervalId b : intervals[a].conflicts) {
      const int64_t other = packing.offsets[intervals[b].buffer];
      ASSERT_TRUE(offset + intervals[a].end <= other + intervals[b].begin ||
                  other + intervals[b].end <= offset + intervals[a].begin)
          << "intervals " << a.index << " and " << b.index;
    }
  }
}

TEST(PackByTime, BytesAreSharedOnlyInSequence) {
  constexpr int kTasks = 400;
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const Clocks clocks = RandomClocks(kTasks, 2 + round % 5, random);
    const DeviceClocks of_device(clocks, AllTasks(kTasks));
    DeviceStorages storages = RandomStorages(of_device, kTasks, 300, random);
    for (PackInterval& interval : storages.problem.intervals) {
      interval.end = 64 * (1 + random() % 6);
    }
    FindConflicts(of_device, storages);
    ExpectNoOverlap(storages, PackByTime(storages, of_device));
  }
}

TEST(PackByTime, IntervalsOfOneBufferAllEndBeforeItsBytesAreShared) {
  constexpr int kTasks = 400;
  constexpr int kBuffers = 300;
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const Clocks clocks = RandomClocks(kTasks, 2 + round % 5, random);
    const DeviceClocks of_device(clocks, AllTasks(kTasks));
    DeviceStorages storages =
        RandomStorages(of_device, kTasks, kBuffers, random);
    storages.problem.num_buffers = kBuffers / 2;
    for (PackIntervalId i : storages.problem.intervals.ids()) {
      PackInterval& interval = storages.problem.intervals[i];
      interval.buffer = PackBufferId(i.index / 2);
      interval.begin = 64 * (i.index % 2);
      interval.end = interval.begin + 64;
    }
    FindConflicts(of_device, storages);
    ExpectNoOverlap(storages, PackByTime(storages, of_device));
  }
}

// A stage of a pipeline: one stream receives an activation for each
// micro-batch, one computes with it, and one sends the result. Only the second
// waits for others on this device, and the third for it.
class Stage {
 public:
  explicit Stage(int micro_batches) : clocks_(3) {
    for (int m = 0; m < micro_batches; ++m) {
      const TaskId receive = clocks_.Start(StreamId(0), {});
      const TaskId first = clocks_.Start(StreamId(1), {receive});
      const TaskId second = clocks_.Start(StreamId(1), {first});
      const TaskId send = clocks_.Start(StreamId(2), {second});
      buffers_.push_back({receive, first});
      buffers_.push_back({first, second});
      buffers_.push_back({second, send});
    }
  }

  const Clocks& clocks() const { return clocks_; }

  // All buffers have `bytes` bytes.
  DeviceStorages Storages(const DeviceClocks& clocks, int64_t bytes) const {
    DeviceStorages storages;
    storages.problem.num_buffers = static_cast<int>(buffers_.size());
    for (PackBufferId buffer : storages.problem.buffers()) {
      storages.live_ranges.Add(LiveRangeOf(buffers_[buffer.index], clocks));
      storages.problem.intervals.Add({.buffer = buffer, .end = bytes});
    }
    return storages;
  }

 private:
  Clocks clocks_;
  std::vector<std::vector<TaskId>> buffers_;  // the tasks that access each
};

TEST(PackByTime, WhatAStageSendsTakesTheBytesOfWhatItReceived) {
  constexpr int kMicroBatches = 500;
  constexpr int64_t kBytes = 1024;
  const Stage stage(kMicroBatches);
  const DeviceClocks clocks(stage.clocks(), AllTasks(4 * kMicroBatches));
  DeviceStorages storages = stage.Storages(clocks, kBytes);
  FindConflicts(clocks, storages);
  const Packing packing = PackByTime(storages, clocks);
  ExpectNoOverlap(storages, packing);
  // The first stream never learns that what it received was read, so all of it
  // may be there at once. What is sent needs no bytes beside it.
  EXPECT_GE(packing.bytes, kMicroBatches * kBytes);
  EXPECT_LE(packing.bytes, (kMicroBatches + 3) * kBytes);
}

}  // namespace
}  // namespace partita
