// Looks for each kind of finding, and ranks all of them.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/findings.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "placement/machine/byte_size.h"
#include "tools/viewer/device_waits.h"
#include "tools/viewer/equal_devices.h"

namespace partita {
namespace {

constexpr double kLeastShare = 0.01;  // of the step
constexpr double kBusyLink = 1.0 / 3;
constexpr double kSameLoad = 0.01;
constexpr double kFullArena = 0.9;   // of the memory
constexpr double kIdleDevice = 0.5;  // of the busiest
constexpr double kFarFromBound = 1.5;
constexpr double kNearlyAll = 0.9;
// In a pipeline every device waits, and may compute little: these findings
// would push all others off the list.
constexpr size_t kMostWaits = 5;
constexpr size_t kMostIdle = 3;

class FindingList {
 public:
  FindingList(const PlanView& view, const ViewedEntry& entry)
      : view_(view), entry_(entry), busy_(view.devices.size(), 0) {
    for (const CommandView& command : entry.commands) {
      if (command.kind != "kernel") continue;
      busy_[entry.streams[command.stream].device] +=
          command.end - command.start;
    }
  }

  std::vector<FindingView> Take() && {
    for (const std::vector<int>& devices : view_.equal_devices) {
      AddWaits(devices);
      AddFullArena(devices);
      AddIdleDevice(devices);
    }
    AddPath();
    AddLinks();
    AddReferenceLoops();
    AddBound();
    Rank(waits_, kMostWaits);
    Rank(idle_, kMostIdle);
    findings_.insert(findings_.end(), waits_.begin(), waits_.end());
    findings_.insert(findings_.end(), idle_.begin(), idle_.end());
    Rank(findings_, kMostFindings);
    return std::move(findings_);
  }

 private:
  static void Rank(std::vector<FindingView>& findings, size_t most) {
    std::stable_sort(findings.begin(), findings.end(),
                     [](const FindingView& a, const FindingView& b) {
                       return a.seconds > b.seconds;
                     });
    if (findings.size() > most) findings.resize(most);
  }

  // "38 %"
  std::string Share(double seconds) const {
    return absl::StrFormat("%.0f %%", 100 * seconds / entry_.end);
  }
  bool IsSmall(double seconds) const {
    return seconds < kLeastShare * entry_.end;
  }
  std::string Name(const std::vector<int>& devices) const {
    return NameOfEqual(view_, devices);
  }
  static const char* Verb(const std::vector<int>& devices, const char* one,
                          const char* several) {
    return devices.size() == 1 ? one : several;
  }

  std::string WhatFor(const DeviceWait& wait) const {
    const CommandView& longest = entry_.commands[wait.longest];
    // One command that is nearly all of it is named alone.
    if (wait.longest_seconds >= kNearlyAll * wait.seconds) {
      return wait.what == DeviceWait::For::kKernels
                 ? absl::StrCat(longest.title, " on ",
                                view_.devices[wait.source].name)
                 : longest.title;
    }
    constexpr const char* kWhat[] = {"kernels", "transfers",
                                     "feeds and fetches"};
    return absl::StrCat(wait.commands, " ", kWhat[static_cast<int>(wait.what)],
                        " of ", view_.devices[wait.source].name,
                        ", the longest ", longest.title, " (",
                        Share(wait.longest_seconds), ")");
  }

  // All waits of a device are one finding, about the longest of them.
  void AddWaits(const std::vector<int>& devices) {
    const std::vector<DeviceWait> waits = WaitsOf(entry_, devices[0]);
    double all = 0;
    for (const DeviceWait& wait : waits) all += wait.seconds;
    if (waits.empty() || IsSmall(all)) return;
    const DeviceWait& most = waits[0];
    FindingView finding;
    finding.text =
        absl::StrCat(Name(devices), Verb(devices, " waits ", " wait "),
                     Share(all), " of the step",
                     most.seconds >= kNearlyAll * all
                         ? " for "
                         : absl::StrCat(", ", Share(most.seconds), " for "),
                     WhatFor(most));
    finding.seconds = all;
    finding.device = devices[0];
    finding.command = most.longest;
    finding.box = entry_.commands[most.longest].box;
    waits_.push_back(std::move(finding));
  }

  void AddFullArena(const std::vector<int>& devices) {
    const MemoryView& memory = entry_.memory[devices[0]];
    if (memory.limit <= 0 ||
        memory.arena < kFullArena * static_cast<double>(memory.limit)) {
      return;
    }
    FindingView finding;
    finding.text = absl::StrCat(
        "the arena of ", Name(devices), " fills ",
        absl::StrFormat("%.0f %%", 100.0 * static_cast<double>(memory.arena) /
                                       static_cast<double>(memory.limit)),
        " of its memory, ", RoundedByteSize(memory.arena), " of ",
        RoundedByteSize(memory.limit));
    // Ranked by how full it is, as if the memory were the step.
    finding.seconds = entry_.end * static_cast<double>(memory.arena) /
                      static_cast<double>(memory.limit) / 4;
    finding.device = devices[0];
    finding.moment = MomentOfPeak(memory);
    findings_.push_back(std::move(finding));
  }

  static double MomentOfPeak(const MemoryView& memory) {
    const auto peak = std::max_element(
        memory.points.begin(), memory.points.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    return peak == memory.points.end() ? 0 : peak->first;
  }

  void AddIdleDevice(const std::vector<int>& devices) {
    const auto busiest = std::max_element(busy_.begin(), busy_.end());
    const double busy = busy_[devices[0]];
    if (busy >= kIdleDevice * *busiest || busy == 0) return;
    const int other = static_cast<int>(busiest - busy_.begin());
    FindingView finding;
    finding.text = absl::StrCat(
        Name(devices), Verb(devices, " computes ", " compute "), Share(busy),
        " of the step, ", view_.devices[other].name, " ", Share(*busiest));
    finding.seconds = (*busiest - busy) / 2;
    finding.device = devices[0];
    idle_.push_back(std::move(finding));
  }

  // The parts of the path by box, as micro-batches repeat nodes.
  void AddPath() {
    std::vector<double> seconds(entry_.boxes.size(), 0);
    for (const PathStep& step : entry_.path) {
      const int box = entry_.commands[step.command].box;
      if (box >= 0) seconds[box] += step.seconds;
    }
    const auto longest = std::max_element(seconds.begin(), seconds.end());
    if (longest == seconds.end() || IsSmall(*longest)) return;
    const BoxView& box = entry_.boxes[longest - seconds.begin()];
    FindingView finding;
    finding.text = absl::StrCat(box.op, " ", box.name,
                                " is the longest of the critical "
                                "path: ",
                                Share(*longest), " of the step");
    finding.seconds = *longest;
    finding.box = static_cast<int>(longest - seconds.begin());
    findings_.push_back(std::move(finding));
  }

  // A direction of a link, or several with the same load: the links of a ring
  // would push all other findings off the list.
  struct BusyLinks {
    int link = 0;
    bool back = false;
    LinkLoad load;
    int count = 1;
  };

  static bool SameLoad(const LinkLoad& a, const LinkLoad& b) {
    return a.transfers == b.transfers && a.bytes == b.bytes &&
           std::abs(a.seconds - b.seconds) <= kSameLoad * a.seconds;
  }

  // Without duplex, both directions are one load.
  LinkLoad LoadOf(size_t link, bool back) const {
    LinkLoad load = entry_.link_loads[link][back];
    if (view_.links[link].duplex) return load;
    const LinkLoad& other = entry_.link_loads[link][!back];
    load.transfers += other.transfers;
    load.bytes += other.bytes;
    load.seconds += other.seconds;
    return load;
  }

  void AddLinks() {
    std::vector<BusyLinks> busy;
    for (size_t l = 0; l < entry_.link_loads.size(); ++l) {
      for (const bool back : {false, true}) {
        if (back && !view_.links[l].duplex) continue;
        const LinkLoad load = LoadOf(l, back);
        if (load.seconds < kBusyLink * entry_.end) continue;
        const auto same = std::find_if(
            busy.begin(), busy.end(),
            [&](const BusyLinks& other) { return SameLoad(other.load, load); });
        if (same != busy.end()) {
          ++same->count;
        } else {
          busy.push_back({static_cast<int>(l), back, load});
        }
      }
    }
    for (const BusyLinks& links : busy) AddBusyLinks(links);
  }

  void AddBusyLinks(const BusyLinks& links) {
    const LinkView& link = view_.links[links.link];
    const int from = links.back ? link.to : link.from;
    const int to = links.back ? link.from : link.to;
    const LinkLoad& load = links.load;
    const bool one = links.count == 1;
    FindingView finding;
    finding.text = absl::StrCat(
        "the link from ", view_.machine_devices[from].name, " to ",
        view_.machine_devices[to].name,
        one ? "" : absl::StrCat(" and ", links.count - 1, " like it"),
        one ? " is" : " are", " busy ", Share(load.seconds),
        " of the step: ", load.transfers,
        load.transfers == 1 ? " transfer, " : " transfers, ",
        RoundedByteSize(load.bytes), one ? "" : " each");
    finding.seconds = load.seconds / 2;
    finding.link = links.link;
    findings_.push_back(std::move(finding));
  }

  // The seconds are those of the device that they hold up longest.
  void AddReferenceLoops() {
    std::vector<double> by_device(view_.devices.size(), 0);
    double most = 0;
    int nodes = 0, longest = -1;
    for (size_t b = 0; b < entry_.boxes.size(); ++b) {
      const BoxView& box = entry_.boxes[b];
      if (!absl::StartsWith(box.kernel, "reference.eval")) continue;
      double seconds = 0;
      for (CommandId c : box.commands) {
        const CommandView& command = entry_.commands[c];
        by_device[entry_.streams[command.stream].device] +=
            command.end - command.start;
        seconds += command.end - command.start;
      }
      ++nodes;
      if (seconds <= most) continue;
      most = seconds;
      longest = static_cast<int>(b);
    }
    const auto slowest = std::max_element(by_device.begin(), by_device.end());
    if (longest < 0 || IsSmall(*slowest)) return;
    const BoxView& box = entry_.boxes[longest];
    FindingView finding;
    finding.text = absl::StrCat(
        nodes, nodes == 1 ? " node runs" : " nodes run",
        " by a reference loop, which is slow: ", Share(*slowest),
        " of the step on ", view_.devices[slowest - by_device.begin()].name,
        ", the longest ", box.op, " ", box.name);
    finding.seconds = *slowest;
    finding.box = longest;
    findings_.push_back(std::move(finding));
  }

  void AddBound() {
    if (entry_.bound_seconds <= 0 ||
        entry_.step_seconds < kFarFromBound * entry_.bound_seconds) {
      return;
    }
    FindingView finding;
    finding.text = absl::StrCat(
        "the step takes ",
        absl::StrFormat("%.1f", entry_.step_seconds / entry_.bound_seconds),
        " times the lower bound",
        entry_.bound_by.empty() ? "" : absl::StrCat(": ", entry_.bound_by));
    finding.seconds = (entry_.step_seconds - entry_.bound_seconds) / 3;
    PointTo(absl::StrSplit(entry_.bound_by, ' '), finding);
    findings_.push_back(std::move(finding));
  }

  // At the link whose ends are two of the words, or else at the first device
  // that is one of them: a plan's notes name them in a text.
  void PointTo(const absl::flat_hash_set<absl::string_view>& words,
               FindingView& finding) const {
    const auto named = [&](absl::string_view name) {
      return words.contains(name);
    };
    const auto link = absl::c_find_if(view_.links, [&](const LinkView& l) {
      return named(view_.machine_devices[l.from].name) &&
             named(view_.machine_devices[l.to].name);
    });
    if (link != view_.links.end()) {
      finding.link = static_cast<int>(link - view_.links.begin());
      return;
    }
    const auto device = absl::c_find_if(
        view_.devices, [&](const DeviceView& d) { return named(d.name); });
    if (device == view_.devices.end()) return;
    finding.device = static_cast<int>(device - view_.devices.begin());
  }

  const PlanView& view_;
  const ViewedEntry& entry_;
  std::vector<double> busy_;        // by device: seconds of kernels
  std::vector<FindingView> waits_;  // of all devices
  std::vector<FindingView> idle_;   // of all devices
  std::vector<FindingView> findings_;
};

}  // namespace

std::vector<FindingView> FindingsOf(const PlanView& view,
                                    const ViewedEntry& entry) {
  if (!entry.timed || entry.end <= 0) return {};
  return FindingList(view, entry).Take();
}

}  // namespace partita
