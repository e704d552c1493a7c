// Compares conflicts with those of all pairs.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/conflicts.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "placement/lower/random_storages.h"

namespace partita {
namespace {

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
