// Follows causes back through the time between two kernels.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/device_waits.h"

#include <algorithm>
#include <map>
#include <utility>

namespace partita {
namespace {

using For = DeviceWait::For;

For KindOf(const CommandView& command) {
  if (command.kind == "kernel") return For::kKernels;
  if (command.kind == "feed" || command.kind == "fetch") return For::kPorts;
  return For::kTransfers;
}

// Others end when another command does.
bool TakesTime(const CommandView& command) {
  return command.kind != "wait" && command.kind != "record" &&
         command.kind != "recv";
}

class WaitCounter {
 public:
  WaitCounter(const ViewedEntry& entry, int device)
      : entry_(entry), device_(device) {}

  // The device computes nothing in [from, to), before `kernel` starts. The
  // command that ends last before the kernel explains the end of the gap, its
  // cause the time before it, and so on. Waits explain nothing, but their
  // causes do.
  void AddGap(CommandId kernel, double from, double to) {
    CommandId c = entry_.commands[kernel].cause;
    while (c.valid() && to > from &&
           static_cast<size_t>(c.index) < entry_.commands.size()) {
      const CommandView& command = entry_.commands[c];
      if (command.end <= from && TakesTime(command)) return;
      const double start = std::max(from, command.start);
      const double end = std::min(to, command.end);
      if (end > start && TakesTime(command)) {
        seconds_[c] += end - start;
        to = start;
      }
      c = command.cause;
    }
  }

  std::vector<DeviceWait> Take() const {
    std::map<std::pair<For, int>, DeviceWait> waits;
    for (const auto& [c, seconds] : seconds_) {
      const CommandView& command = entry_.commands[c];
      const int source = entry_.streams[command.stream].device;
      DeviceWait& wait = waits[{KindOf(command), source}];
      wait.device = device_;
      wait.what = KindOf(command);
      wait.source = source;
      wait.seconds += seconds;
      ++wait.commands;
      if (seconds <= wait.longest_seconds) continue;
      wait.longest = c;
      wait.longest_seconds = seconds;
    }
    std::vector<DeviceWait> list;
    for (const auto& [key, wait] : waits) list.push_back(wait);
    std::stable_sort(list.begin(), list.end(),
                     [](const DeviceWait& a, const DeviceWait& b) {
                       return a.seconds > b.seconds;
                     });
    return list;
  }

 private:
  struct ById {
    bool operator()(CommandId a, CommandId b) const {
      return a.index < b.index;
    }
  };

  const ViewedEntry& entry_;
  const int device_;
  std::map<CommandId, double, ById> seconds_;  // waited for the command
};

}  // namespace

std::vector<DeviceWait> WaitsOf(const ViewedEntry& entry, int device) {
  std::vector<CommandId> kernels;
  for (CommandId c : entry.commands.ids()) {
    const CommandView& command = entry.commands[c];
    if (command.kind != "kernel" || command.end <= command.start) continue;
    if (entry.streams[command.stream].device == device) kernels.push_back(c);
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [&](CommandId a, CommandId b) {
                     return entry.commands[a].start < entry.commands[b].start;
                   });
  WaitCounter counter(entry, device);
  double before = 0;
  for (CommandId c : kernels) {
    counter.AddGap(c, before, entry.commands[c].start);
    before = std::max(before, entry.commands[c].end);
  }
  return counter.Take();
}

}  // namespace partita
