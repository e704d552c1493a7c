// Draws tasks, their waits, and what they access.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/random_storages.h"

#include <algorithm>
#include <vector>

namespace partita {

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

}  // namespace partita
