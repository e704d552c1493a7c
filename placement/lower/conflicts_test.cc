// Compares conflicts with those of all pairs.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/conflicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace partita {
namespace {

// Tasks in random streams that wait for random earlier ones. Streams with high
// numbers begin late or end early, as copy streams do.
Clocks RandomClocks(int tasks, int streams, std::mt19937& random) {
  Clocks clocks(streams);
  for (int t = 0; t < tasks; ++t) {
    const bool near_an_end = t < tasks / 4 || t > 3 * tasks / 4;
    const int stream = random() % (near_an_end ? streams : 2);
    std::vector<TaskId> dependencies;
    for (int i = 0; t > 0 && i < 2; ++i) {
      if (random() % 3 == 0) dependencies.push_back(TaskId(random() % t));
    }
    std::sort(dependencies.begin(), dependencies.end());
    clocks.Start(StreamId(stream), dependencies);
  }
  return clocks;
}

// One interval for each buffer, accessed by up to three tasks.
DeviceStorages RandomStorages(const DeviceClocks& clocks, int tasks,
                              int buffers, std::mt19937& random) {
  DeviceStorages storages;
  storages.problem.num_buffers = buffers;
  for (PackBufferId buffer : storages.problem.buffers()) {
    const int first = random() % tasks;
    std::vector<TaskId> accessing = {TaskId(first)};
    for (int t = first + 1; t < tasks && accessing.size() < 3; ++t) {
      if (random() % 8 == 0) accessing.push_back(TaskId(t));
    }
    storages.live_ranges.Add(LiveRangeOf(accessing, clocks));
    storages.problem.intervals.Add({.buffer = buffer, .end = 64});
  }
  return storages;
}

TEST(FindConflicts, FindsThePairsOfWhichNeitherEndsBeforeTheOther) {
  constexpr int kTasks = 120;
  std::mt19937 random(4);
  for (int round = 0; round < 40; ++round) {
    const Clocks clocks = RandomClocks(kTasks, 2 + round % 5, random);
    std::vector<TaskId> tasks;
    for (int t = 0; t < kTasks; ++t) tasks.push_back(TaskId(t));
    const DeviceClocks of_device(clocks, tasks);
    DeviceStorages storages = RandomStorages(of_device, kTasks, 200, random);
    FindConflicts(of_device, storages);
    for (PackIntervalId a : storages.live_ranges.ids()) {
      std::vector<PackIntervalId> expected;
      for (PackIntervalId b : storages.live_ranges.ids()) {
        const LiveRange& x = storages.live_ranges[a];
        const LiveRange& y = storages.live_ranges[b];
        if (a == b || EndedBefore(x, y.known) || EndedBefore(y, x.known)) {
          continue;
        }
        expected.push_back(b);
      }
      ASSERT_EQ(storages.problem.intervals[a].conflicts, expected)
          << "interval " << a.index << " of round " << round;
    }
  }
}

}  // namespace
}  // namespace partita
