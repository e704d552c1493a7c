// Ranks boxes by what they hold up.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/nodes_of_interest.h"

#include <algorithm>
#include <numeric>

namespace partita {
namespace {

class InterestList {
 public:
  InterestList(const ViewedEntry& entry, int most)
      : most_(most), listed_(entry.boxes.size(), false) {
    for (size_t b = 0; b < entry.boxes.size(); ++b) {
      const BoxView& box = entry.boxes[b];
      int maker = box.kernel.empty() || box.inserted ? -1 : static_cast<int>(b);
      if (maker < 0 && !box.operands.empty() && box.operands[0].box >= 0) {
        maker = makers_[box.operands[0].box];
      }
      makers_.push_back(maker);
    }
  }

  void Add(int box) {
    if (box >= 0) box = makers_[box];
    if (box < 0 || listed_[box] || static_cast<int>(list_.size()) >= most_) {
      return;
    }
    listed_[box] = true;
    list_.push_back(box);
  }

  // The boxes with the most seconds, which are by box.
  void AddLongest(const std::vector<double>& seconds) {
    std::vector<int> order(seconds.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return seconds[a] > seconds[b]; });
    for (int box : order) {
      if (seconds[box] > 0) Add(box);
    }
  }

  std::vector<int> Take() { return std::move(list_); }

 private:
  // By box: itself, or for one without a kernel that of its first operand,
  // which is before it; -1: none.
  std::vector<int> makers_;
  const int most_;
  std::vector<bool> listed_;
  std::vector<int> list_;
};

}  // namespace

std::vector<int> NodesOfInterest(const ViewedEntry& entry, int most) {
  InterestList list(entry, most);
  for (const FindingView& finding : entry.findings) list.Add(finding.box);
  std::vector<double> on_path(entry.boxes.size(), 0), all(on_path);
  for (const PathStep& step : entry.path) {
    const int box = entry.commands[step.command].box;
    if (box >= 0) on_path[box] += step.seconds;
  }
  list.AddLongest(on_path);
  for (const CommandView& command : entry.commands) {
    if (command.kind == "kernel" && command.box >= 0) {
      all[command.box] += command.end - command.start;
    }
  }
  list.AddLongest(all);
  return list.Take();
}

}  // namespace partita
