// Compares each device with the first one of each list.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/equal_devices.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

constexpr double kTolerance = 0.01;

// What a device does in one entry.
struct DeviceWork {
  int64_t arena = 0;
  int64_t peak = 0;
  int nodes = 0;
  std::map<std::string, int> commands;  // by kind
  double kernel_seconds = 0;
};

std::vector<DeviceWork> WorkOf(const ViewedEntry& entry, size_t num_devices) {
  std::vector<DeviceWork> work(num_devices);
  for (const MemoryView& memory : entry.memory) {
    work[memory.device].arena = memory.arena;
    work[memory.device].peak = memory.peak;
  }
  for (const BoxView& box : entry.boxes) {
    for (int device : box.devices) ++work[device].nodes;
  }
  for (const CommandView& command : entry.commands) {
    DeviceWork& own = work[entry.streams[command.stream].device];
    ++own.commands[command.kind];
    if (command.kind == "kernel") {
      own.kernel_seconds += command.end - command.start;
    }
  }
  return work;
}

bool Near(double a, double b) {
  return std::abs(a - b) <= kTolerance * std::max(a, b);
}

bool SameWork(const DeviceWork& a, const DeviceWork& b) {
  return a.arena == b.arena && a.nodes == b.nodes && a.commands == b.commands &&
         Near(a.kernel_seconds, b.kernel_seconds) &&
         Near(static_cast<double>(a.peak), static_cast<double>(b.peak));
}

}  // namespace

std::vector<std::vector<int>> EqualDevices(const PlanView& view) {
  std::vector<std::vector<DeviceWork>> work;  // by entry and device
  for (const ViewedEntry& entry : view.entries) {
    work.push_back(WorkOf(entry, view.devices.size()));
  }
  const auto equal = [&](int a, int b) {
    if (view.devices[a].kind != view.devices[b].kind ||
        view.devices[a].memory != view.devices[b].memory) {
      return false;
    }
    return std::all_of(work.begin(), work.end(), [&](const auto& of_entry) {
      return SameWork(of_entry[a], of_entry[b]);
    });
  };
  std::vector<std::vector<int>> lists;
  for (int d = 0; d < static_cast<int>(view.devices.size()); ++d) {
    const auto list =
        std::find_if(lists.begin(), lists.end(),
                     [&](const auto& known) { return equal(known[0], d); });
    if (list == lists.end()) {
      lists.push_back({d});
    } else {
      list->push_back(d);
    }
  }
  return lists;
}

std::string NameOfEqual(const PlanView& view, const std::vector<int>& devices) {
  const std::string& first = view.devices[devices[0]].name;
  if (devices.size() == 1) return first;
  return absl::StrCat(first, " and ", devices.size() - 1, " like it");
}

}  // namespace partita
