// Lives of buffers over time, as the length of a union of intervals.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/memory_curve.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/simulate/messages.h"

namespace partita {
namespace {

// One buffer from a write to its last read.
struct Life {
  int64_t begin = 0;  // bytes
  int64_t end = 0;
  double from = 0;  // seconds
  double to = 0;
};

// Bytes covered by at least one of the intervals that are in it: a segment tree
// over the ends of all intervals.
class Cover {
 public:
  explicit Cover(std::vector<int64_t> ends) : ends_(std::move(ends)) {
    std::sort(ends_.begin(), ends_.end());
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
    count_.assign(4 * ends_.size() + 4, 0);
    covered_.assign(4 * ends_.size() + 4, 0);
  }

  void Add(int64_t begin, int64_t end, int change) {
    if (begin < end) Add(1, 0, ends_.size() - 1, begin, end, change);
  }
  int64_t bytes() const { return covered_[1]; }

 private:
  // `node` covers ends_[low] .. ends_[high].
  void Add(size_t node, size_t low, size_t high, int64_t begin, int64_t end,
           int change) {
    if (end <= ends_[low] || ends_[high] <= begin) return;
    if (begin <= ends_[low] && ends_[high] <= end) {
      count_[node] += change;
    } else {
      const size_t middle = (low + high) / 2;
      Add(2 * node, low, middle, begin, end, change);
      Add(2 * node + 1, middle, high, begin, end, change);
    }
    covered_[node] = count_[node] > 0 ? ends_[high] - ends_[low]
                     : high - low == 1
                         ? 0
                         : covered_[2 * node] + covered_[2 * node + 1];
  }

  std::vector<int64_t> ends_;
  std::vector<int> count_;
  std::vector<int64_t> covered_;
};

class LifeRecorder {
 public:
  LifeRecorder(const Plan& plan, const Entry& entry)
      : entry_(entry),
        open_(entry.buffers.size(), -1),
        lives_(plan.devices.size()) {}

  // Commands in the order of their starts.
  void Visit(const Command& command, const SimulatedCommand& times) {
    for (BufferId id : command.operands) Read(id, times);
    for (BufferId id : command.results) Write(id, times);
    if (command.workspace.valid()) {
      Write(command.workspace, times);
      open_[command.workspace.index] = -1;
    }
  }

  void Read(BufferId id, const SimulatedCommand& times) {
    if (!StepLocal(id)) return;
    if (open_[id.index] < 0) Write(id, times);  // a view of written bytes
    Life& life = On(id)[open_[id.index]];
    life.to = std::max(life.to, times.end);
  }

  void Write(BufferId id, const SimulatedCommand& times) {
    if (!StepLocal(id)) return;
    const Range& range = entry_.buffers[id.index].range;
    open_[id.index] = static_cast<int>(On(id).size());
    On(id).push_back({range.offset, range.end(), times.start, times.end});
  }

  const std::vector<std::vector<Life>>& lives() const { return lives_; }

 private:
  bool StepLocal(BufferId id) const {
    return id.valid() && id.index < static_cast<int>(open_.size()) &&
           !entry_.buffers[id.index].persistent &&
           !entry_.buffers[id.index].range.empty();
  }
  std::vector<Life>& On(BufferId id) {
    return lives_[entry_.buffers[id.index].device.index];
  }

  const Entry& entry_;
  std::vector<int> open_;  // by buffer: index into its device's lives
  std::vector<std::vector<Life>> lives_;
};

std::vector<MemoryPoint> Sweep(const std::vector<Life>& lives, int64_t base) {
  struct Change {
    double time;
    int by;  // ends come before starts at the same time
    const Life* life;
  };
  std::vector<Change> changes;
  std::vector<int64_t> ends;
  for (const Life& life : lives) {
    changes.push_back({life.from, 1, &life});
    changes.push_back({life.to, -1, &life});
    ends.insert(ends.end(), {life.begin, life.end});
  }
  // A life of no length still begins before it ends.
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) {
                     if (a.time != b.time) return a.time < b.time;
                     const bool a_ends = a.by < 0 && a.life->from < a.time;
                     const bool b_ends = b.by < 0 && b.life->from < b.time;
                     return a_ends > b_ends;
                   });
  std::vector<MemoryPoint> points = {{0, base}};
  if (lives.empty()) return points;
  Cover cover(std::move(ends));
  for (const Change& change : changes) {
    cover.Add(change.life->begin, change.life->end, change.by);
    if (points.back().time < change.time) points.push_back({change.time, 0});
    points.back().bytes = base + cover.bytes();
  }
  return points;
}

}  // namespace

absl::StatusOr<std::vector<std::vector<MemoryPoint>>> MemoryCurves(
    const Plan& plan, int entry_index, const Simulation& simulation) {
  const Entry& entry = plan.entries[entry_index];
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Command> commands, Expand(entry));
  if (commands.size() != simulation.commands.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "plan @", plan.name, ": found ", simulation.commands.size(),
        " simulated commands; expected ", commands.size(),
        "; simulate the same entry"));
  }
  const ChannelMessages messages = MessagesOf(entry, commands);
  std::vector<int> order(commands.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return simulation.commands[a].start < simulation.commands[b].start;
  });
  LifeRecorder recorder(plan, entry);
  for (int c : order) {
    const SimulatedCommand& times = simulation.commands[c];
    recorder.Visit(commands[c], times);
    const int message = messages.of_command[c];
    if (message < 0) continue;
    const BufferId slot = messages.list[message].slot;
    if (commands[c].kind == Command::Kind::kSend) recorder.Write(slot, times);
    if (commands[c].kind == Command::Kind::kRecv) recorder.Read(slot, times);
  }
  std::vector<std::vector<MemoryPoint>> curves;
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    curves.push_back(
        Sweep(recorder.lives()[d], plan.devices[d].persistent_bytes));
  }
  return curves;
}

}  // namespace partita
