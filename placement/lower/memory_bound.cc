// Live ranges from the commands of a plan, and their heaviest antichain.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/memory_bound.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/id_vector.h"
#include "graph/round_up.h"
#include "graph/status_macros.h"
#include "placement/lower/antichain.h"
#include "placement/lower/clocks.h"
#include "placement/lower/device_clocks.h"
#include "placement/lower/live_range.h"

namespace partita {
namespace {

constexpr int64_t kUnit = 64;

// One task's use of a buffer.
struct BufferUse {
  TaskId task;
  bool reads;
  bool begins;  // may begin a live range: a write of one block
};

// The tasks of an entry, and their order.
struct EntryTasks {
  IdVector<TaskId, Command> commands;
  Clocks clocks;
};

bool IsSync(const Command& command) {
  return command.kind == Command::Kind::kRecord ||
         command.kind == Command::Kind::kWait;
}

bool SameCollective(const Command& first, const Command& command) {
  return first.kind == Command::Kind::kCollective &&
         command.kind == first.kind &&
         command.instance.node == first.instance.node &&
         command.instance.micro_batch == first.instance.micro_batch;
}

// Lists the tasks of commands in launch order. What a stream waits for becomes
// the dependencies of its next task.
class TaskLister {
 public:
  explicit TaskLister(const Entry& entry)
      : entry_(entry),
        last_(entry.streams.size()),
        waits_(entry.streams.size()),
        recorded_(entry.num_events),
        tasks_{{}, Clocks(entry.streams.size())} {}

  EntryTasks Run(absl::Span<const Command> commands) {
    for (size_t i = 0, end = 0; i < commands.size(); i = end) {
      end = i + 1;
      while (end < commands.size() &&
             SameCollective(commands[i], commands[end])) {
        ++end;
      }
      for (size_t c = i; c < end; ++c) Add(commands[c]);
      if (commands[i].kind == Command::Kind::kCollective) {
        tasks_.clocks.EndCollective(RanksOf(commands.subspan(i, end - i)));
      }
    }
    return std::move(tasks_);
  }

 private:
  void Add(const Command& command) {
    const StreamId stream = command.stream;
    std::vector<TaskId>& waits = waits_[stream];
    if (IsSync(command)) {
      std::vector<TaskId>& recorded = recorded_[command.event];
      if (command.kind == Command::Kind::kWait) {
        waits.insert(waits.end(), recorded.begin(), recorded.end());
        // Events that stand for the same tasks must not make lists longer.
        absl::c_sort(waits);
        waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
      } else {
        recorded = waits;
        if (last_[stream].valid()) recorded.push_back(last_[stream]);
      }
      return;
    }
    absl::c_sort(waits);
    last_[stream] = tasks_.clocks.Start(stream, waits);
    tasks_.commands.Add(command);
    waits.clear();
  }

  bool HasBytes(const std::vector<BufferId>& buffers) const {
    return absl::c_any_of(buffers, [&](BufferId id) {
      return !entry_.buffers[id.index].range.empty();
    });
  }

  std::vector<RankTransfer> RanksOf(absl::Span<const Command> parts) const {
    const std::vector<RankTransfer> all =
        RanksOfCollective(entry_.graph->view(parts[0].instance.node));
    std::vector<RankTransfer> ranks;
    for (const Command& command : parts) {
      RankTransfer& rank = ranks.emplace_back(all[command.instance.rank]);
      if (!HasBytes(command.operands)) rank.gives = -1;
      if (!HasBytes(command.results)) rank.takes = -1;
    }
    return ranks;
  }

  const Entry& entry_;
  IdVector<StreamId, TaskId> last_;
  IdVector<StreamId, std::vector<TaskId>> waits_;    // for the next task
  IdVector<EventId, std::vector<TaskId>> recorded_;  // tasks that have ended
  EntryTasks tasks_;
};

class DeviceBound {
 public:
  DeviceBound(const Entry& entry, const Clocks& clocks,
              const IdVector<BufferId, std::vector<BufferUse>>& uses)
      : entry_(entry), clocks_(clocks), uses_(uses) {}

  // `buffers`: those of the device's step part that tasks use.
  MemoryBound Run(absl::Span<const BufferId> buffers) {
    SweepArena(buffers);
    // Live ranges depend only on the streams that access the arena.
    std::vector<TaskId> tasks;
    for (const auto& [users, weight] : weights_) {
      tasks.insert(tasks.end(), users.begin(), users.end());
    }
    const DeviceClocks clocks(clocks_, tasks);
    std::vector<StreamLiveRange> live_ranges;
    for (const auto& [users, weight] : weights_) {
      live_ranges.push_back(
          Weighted(LiveRangeOf(users, clocks), clocks, weight));
    }
    return {top_, HeaviestAntichain(live_ranges)};
  }

 private:
  // Sweeps the ends of all buffers. Between two neighbouring ends, the same
  // buffers cover all bytes.
  void SweepArena(absl::Span<const BufferId> buffers) {
    std::map<int64_t, std::pair<std::vector<BufferId>, std::vector<BufferId>>>
        edges;
    for (BufferId id : buffers) {
      const Buffer& buffer = entry_.buffers[id.index];
      const int64_t end = RoundUp(buffer.range.end(), kUnit);
      top_ = std::max(top_, end);
      edges[buffer.range.offset / kUnit * kUnit].first.push_back(id);
      edges[end].second.push_back(id);
    }
    std::set<BufferId> covering;
    int64_t begin = 0;
    for (const auto& [at, change] : edges) {
      if (!covering.empty()) AddLiveRanges(covering, at - begin);
      for (BufferId buffer : change.second) covering.erase(buffer);
      for (BufferId buffer : change.first) covering.insert(buffer);
      begin = at;
    }
  }

  // Splits the uses of some bytes into live ranges, in launch order. A write
  // begins a new live range if it follows all earlier uses and its task does
  // not read the bytes.
  void AddLiveRanges(const std::set<BufferId>& covering, int64_t bytes) {
    std::map<TaskId, BufferUse> by_task;
    for (BufferId buffer : covering) {
      for (const BufferUse& use : uses_[buffer]) {
        const auto [it, inserted] = by_task.emplace(use.task, use);
        if (inserted) continue;
        it->second.reads |= use.reads;
        it->second.begins &= use.begins || use.reads;
      }
    }
    std::vector<TaskId> users;
    for (const auto& [task, use] : by_task) {
      if (use.begins && !use.reads && FollowsAll(users, task)) {
        Keep(users, bytes);
        users.clear();
      }
      users.push_back(task);
    }
    Keep(users, bytes);
  }

  bool FollowsAll(const std::vector<TaskId>& users, TaskId task) const {
    return absl::c_all_of(
        users, [&](TaskId user) { return clocks_.Before(user, task); });
  }

  void Keep(const std::vector<TaskId>& users, int64_t bytes) {
    if (!users.empty()) weights_[users] += bytes;
  }

  const Entry& entry_;
  const Clocks& clocks_;
  const IdVector<BufferId, std::vector<BufferUse>>& uses_;
  int64_t top_ = 0;
  // By the tasks of a live range.
  std::map<std::vector<TaskId>, int64_t> weights_;
};

IdVector<BufferId, std::vector<BufferUse>> UsesOf(
    const Entry& entry, const IdVector<TaskId, Command>& commands) {
  IdVector<BufferId, std::vector<BufferUse>> uses(entry.buffers.size());
  for (TaskId task : commands.ids()) {
    const Command& command = commands[task];
    for (BufferId id : command.operands) {
      uses[id].push_back({task, true, false});
    }
    auto write = [&](BufferId id) {
      if (!id.valid()) return;
      uses[id].push_back(
          {task, false, entry.buffers[id.index].range.Canonical().count == 1});
    };
    for (BufferId id : command.results) write(id);
    write(command.workspace);
  }
  return uses;
}

// By device: the buffers of its step part that tasks use, ascending.
IdVector<DeviceId, std::vector<BufferId>> UsedBuffers(
    const Entry& entry, const IdVector<BufferId, std::vector<BufferUse>>& uses,
    size_t devices) {
  IdVector<DeviceId, std::vector<BufferId>> used(devices);
  for (BufferId id : uses.ids()) {
    const Buffer& buffer = entry.buffers[id.index];
    if (buffer.persistent || buffer.range.empty() || uses[id].empty()) continue;
    used[buffer.device].push_back(id);
  }
  return used;
}

}  // namespace

absl::StatusOr<std::vector<MemoryBound>> BoundMemory(const Plan& plan,
                                                     const Entry& entry) {
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
  for (const Command& command : commands) {
    if (command.channel.valid()) {
      return absl::UnimplementedError(absl::StrCat(
          "entry @", entry.name,
          ": found messages; expected copies, events and collectives only"));
    }
  }
  const EntryTasks tasks = TaskLister(entry).Run(commands);
  const IdVector<BufferId, std::vector<BufferUse>> uses =
      UsesOf(entry, tasks.commands);
  std::vector<MemoryBound> bounds;
  for (const std::vector<BufferId>& buffers :
       UsedBuffers(entry, uses, plan.devices.size())) {
    bounds.push_back(DeviceBound(entry, tasks.clocks, uses).Run(buffers));
  }
  return bounds;
}

}  // namespace partita
