// Selects the streams of a device, and stores what their tasks know.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/device_clocks.h"

#include <set>

#include "absl/container/flat_hash_map.h"

namespace partita {

DeviceClocks::DeviceClocks(const Clocks& clocks, absl::Span<const int> tasks)
    : clocks_(clocks) {
  std::set<int> streams;
  for (int task : tasks) streams.insert(clocks.stream(task));
  absl::flat_hash_map<int, int> numbers;
  for (int stream : streams) numbers[stream] = num_streams_++;
  for (int task = 0; task < clocks.num_tasks(); ++task) {
    const auto number = numbers.find(clocks.stream(task));
    streams_.push_back(number == numbers.end() ? -1 : number->second);
    first_.push_back(known_.size());
    if (streams_.back() < 0) continue;
    for (int stream : streams) known_.push_back(clocks.Known(task, stream));
  }
}

}  // namespace partita
