// Live ranges of buffers over time, as the length of a union of intervals.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/memory_curve.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/simulate/messages.h"

namespace partita {
namespace {

using LiveRangeId = Id<struct LiveRangeTag>;
using LiveRanges = std::vector<LiveBuffer>;  // of one device

// The number of bytes that at least one of the added intervals covers: a
// segment tree over the ends of all intervals.
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

class LiveRangeRecorder {
 public:
  LiveRangeRecorder(const Plan& plan, const Entry& entry)
      : entry_(entry),
        open_(entry.buffers.size()),
        live_ranges_(plan.devices.size()) {}

  // Visits commands in the order of their starts.
  void Visit(const Command& command, const SimulatedCommand& times) {
    for (BufferId id : command.operands) Read(id, times);
    for (BufferId id : command.results) Write(id, times);
    if (command.workspace.valid()) {
      Write(command.workspace, times);
      open_[command.workspace] = {};
    }
  }

  void Read(BufferId id, const SimulatedCommand& times) {
    if (!StepLocal(id)) return;
    if (!open_[id].valid()) Write(id, times);  // a view of written bytes
    LiveBuffer& live_range = On(id)[open_[id].index];
    live_range.to = std::max(live_range.to, times.end);
  }

  void Write(BufferId id, const SimulatedCommand& times) {
    if (!StepLocal(id)) return;
    LiveRanges& ranges = On(id);
    open_[id] = LiveRangeId(static_cast<int32_t>(ranges.size()));
    ranges.push_back({id, times.start, times.end});
  }

  std::vector<LiveRanges> Take() { return std::move(live_ranges_); }

 private:
  bool StepLocal(BufferId id) const {
    return id.valid() && id.index < static_cast<int>(open_.size()) &&
           !entry_.buffers[id.index].persistent &&
           !entry_.buffers[id.index].range.empty();
  }
  LiveRanges& On(BufferId id) {
    return live_ranges_[entry_.buffers[id.index].device.index];
  }

  const Entry& entry_;
  IdVector<BufferId, LiveRangeId> open_;  // invalid: none
  std::vector<LiveRanges> live_ranges_;   // by device
};

std::vector<MemoryPoint> Sweep(const Entry& entry,
                               const LiveRanges& live_ranges, int64_t base) {
  struct Change {
    double time;
    int by;  // ends come before starts at the same time
    const LiveBuffer* live_range;
  };
  const auto bytes_of = [&](const LiveBuffer& live_range) -> const Range& {
    return entry.buffers[live_range.buffer.index].range;
  };
  std::vector<Change> changes;
  std::vector<int64_t> ends;
  for (const LiveBuffer& live_range : live_ranges) {
    changes.push_back({live_range.from, 1, &live_range});
    changes.push_back({live_range.to, -1, &live_range});
    const Range& range = bytes_of(live_range);
    ends.insert(ends.end(), {range.offset, range.end()});
  }
  // A live range of length 0 still begins before it ends.
  std::stable_sort(
      changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        if (a.time != b.time) return a.time < b.time;
        const bool a_ends = a.by < 0 && a.live_range->from < a.time;
        const bool b_ends = b.by < 0 && b.live_range->from < b.time;
        return a_ends > b_ends;
      });
  std::vector<MemoryPoint> points = {{0, base}};
  if (live_ranges.empty()) return points;
  Cover cover(std::move(ends));
  for (const Change& change : changes) {
    const Range& range = bytes_of(*change.live_range);
    cover.Add(range.offset, range.end(), change.by);
    if (points.back().time < change.time) points.push_back({change.time, 0});
    points.back().bytes = base + cover.bytes();
  }
  return points;
}

}  // namespace

absl::StatusOr<std::vector<std::vector<LiveBuffer>>> LiveBuffers(
    const Plan& plan, int entry_index, const Simulation& simulation) {
  const Entry& entry = plan.entries[entry_index];
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
  if (commands.size() != simulation.commands.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "plan @", plan.name, ": found ", simulation.commands.size(),
        " simulated commands; expected ", commands.size(),
        "; simulate the same entry"));
  }
  const ChannelMessages messages = MessagesOf(entry, commands);
  std::vector<CommandId> order(commands.ids().begin(), commands.ids().end());
  std::stable_sort(order.begin(), order.end(), [&](CommandId a, CommandId b) {
    return simulation.commands[a].start < simulation.commands[b].start;
  });
  LiveRangeRecorder recorder(plan, entry);
  for (CommandId c : order) {
    const SimulatedCommand& times = simulation.commands[c];
    recorder.Visit(commands[c], times);
    const MessageId message = messages.of_command[c];
    if (!message.valid()) continue;
    const BufferId slot = messages.list[message].slot;
    if (commands[c].kind == Command::Kind::kSend) recorder.Write(slot, times);
    if (commands[c].kind == Command::Kind::kRecv) recorder.Read(slot, times);
  }
  return recorder.Take();
}

absl::StatusOr<std::vector<std::vector<MemoryPoint>>> MemoryCurves(
    const Plan& plan, int entry, const Simulation& simulation) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<LiveRanges> live,
                           LiveBuffers(plan, entry, simulation));
  std::vector<std::vector<MemoryPoint>> curves;
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    curves.push_back(
        Sweep(plan.entries[entry], live[d], plan.devices[d].persistent_bytes));
  }
  return curves;
}

}  // namespace partita
