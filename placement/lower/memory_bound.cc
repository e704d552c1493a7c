// Lives of bytes from a plan's commands, and the heaviest antichain of them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/memory_bound.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/status_macros.h"
#include "placement/lower/antichain.h"

namespace partita {
namespace {

constexpr int64_t kUnit = 64;

int64_t RoundUp(int64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

// One command's use of a buffer.
struct BufferUse {
  int command;
  bool reads;
  bool begins;  // may begin a life: a write of one block
};

// When each command starts: how many commands of each stream have ended.
class Order {
 public:
  Order(const Entry& entry, const std::vector<Command>& commands)
      : streams_(entry.streams.size()),
        now_(streams_, std::vector<int>(streams_, 0)),
        recorded_(entry.num_events) {
    for (size_t i = 0, end = 0; i < commands.size(); i = end) {
      end = i + 1;
      if (commands[i].kind != Command::Kind::kCollective) {
        Add(commands[i]);
        continue;
      }
      while (end < commands.size() && IsPartOf(commands[i], commands[end])) {
        ++end;
      }
      AddParts(absl::MakeSpan(commands).subspan(i, end - i));
    }
  }
  const std::vector<int>& Known(int command) const { return known_[command]; }
  int Position(int command) const { return position_[command]; }

 private:
  static void Join(const std::vector<int>& other, std::vector<int>& mine) {
    for (size_t s = 0; s < other.size(); ++s) {
      mine[s] = std::max(mine[s], other[s]);
    }
  }
  static bool IsPartOf(const Command& first, const Command& command) {
    return command.kind == Command::Kind::kCollective &&
           command.instance.node == first.instance.node &&
           command.instance.micro_batch == first.instance.micro_batch;
  }

  void Add(const Command& command) {
    std::vector<int>& mine = now_[command.stream.index];
    if (command.kind == Command::Kind::kWait) {
      Join(recorded_[command.event.index], mine);
    }
    known_.push_back(mine);
    position_.push_back(++mine[command.stream.index]);
    if (command.kind == Command::Kind::kRecord) {
      recorded_[command.event.index] = mine;
    }
  }

  // No part ends before all have started.
  void AddParts(absl::Span<const Command> parts) {
    std::vector<int> started(streams_, 0);
    for (const Command& part : parts) {
      Join(now_[part.stream.index], started);
      Add(part);
    }
    for (const Command& part : parts) Join(started, now_[part.stream.index]);
  }

  const size_t streams_;
  std::vector<std::vector<int>> now_;       // by stream
  std::vector<std::vector<int>> recorded_;  // by event
  std::vector<std::vector<int>> known_;
  std::vector<int> position_;
};

class DeviceBound {
 public:
  DeviceBound(const Entry& entry, const std::vector<Command>& commands,
              const Order& order,
              const std::vector<std::vector<BufferUse>>& uses, DeviceId device)
      : entry_(entry),
        commands_(commands),
        order_(order),
        uses_(uses),
        device_(device) {}

  MemoryBound Run() {
    SweepArena();
    std::vector<StreamLife> lives;
    for (const auto& [users, weight] : weights_) {
      lives.push_back(LifeOf(users, weight));
    }
    return {top_, HeaviestAntichain(lives)};
  }

 private:
  // Between two neighbouring begins and ends the same buffers cover all bytes.
  void SweepArena() {
    std::map<int64_t, std::pair<std::vector<int>, std::vector<int>>> edges;
    for (size_t i = 0; i < entry_.buffers.size(); ++i) {
      const Buffer& buffer = entry_.buffers[i];
      if (buffer.device != device_ || buffer.persistent ||
          buffer.range.empty() || uses_[i].empty()) {
        continue;
      }
      const int64_t end = RoundUp(buffer.range.end());
      top_ = std::max(top_, end);
      edges[buffer.range.offset / kUnit * kUnit].first.push_back(
          static_cast<int>(i));
      edges[end].second.push_back(static_cast<int>(i));
    }
    std::set<int> covering;
    int64_t begin = 0;
    for (const auto& [at, change] : edges) {
      if (!covering.empty()) CutLives(covering, at - begin);
      for (int buffer : change.second) covering.erase(buffer);
      for (int buffer : change.first) covering.insert(buffer);
      begin = at;
    }
  }

  // In launch order; a write that follows everything before it, and that its
  // command does not read, begins a new life.
  void CutLives(const std::set<int>& covering, int64_t bytes) {
    std::map<int, BufferUse> by_command;
    for (int buffer : covering) {
      for (const BufferUse& use : uses_[buffer]) {
        const auto [it, inserted] = by_command.emplace(use.command, use);
        if (inserted) continue;
        it->second.reads |= use.reads;
        it->second.begins &= use.begins || use.reads;
      }
    }
    std::vector<int> users;
    for (const auto& [command, use] : by_command) {
      if (use.begins && !use.reads && FollowsAll(users, command)) {
        Keep(users, bytes);
        users.clear();
      }
      users.push_back(command);
    }
    Keep(users, bytes);
  }

  bool FollowsAll(const std::vector<int>& users, int command) const {
    return std::all_of(users.begin(), users.end(), [&](int user) {
      return order_.Known(command)[commands_[user].stream.index] >=
             order_.Position(user);
    });
  }

  void Keep(const std::vector<int>& users, int64_t bytes) {
    if (!users.empty()) weights_[users] += bytes;
  }

  StreamLife LifeOf(const std::vector<int>& users, int64_t weight) const {
    StreamLife life{.weight = weight,
                    .stream = commands_[users[0]].stream.index,
                    .position = order_.Position(users[0]),
                    .known = order_.Known(users[0])};
    std::map<int, int> ends;
    for (int user : users) {
      int& end = ends[commands_[user].stream.index];
      end = std::max(end, order_.Position(user));
      const std::vector<int>& known = order_.Known(user);
      for (size_t s = 0; s < known.size(); ++s) {
        life.known[s] = std::min(life.known[s], known[s]);
      }
    }
    life.ends.assign(ends.begin(), ends.end());
    return life;
  }

  const Entry& entry_;
  const std::vector<Command>& commands_;
  const Order& order_;
  const std::vector<std::vector<BufferUse>>& uses_;
  const DeviceId device_;
  int64_t top_ = 0;
  std::map<std::vector<int>, int64_t> weights_;  // by the life's commands
};

std::vector<std::vector<BufferUse>> UsesOf(
    const Entry& entry, const std::vector<Command>& commands) {
  std::vector<std::vector<BufferUse>> uses(entry.buffers.size());
  for (size_t i = 0; i < commands.size(); ++i) {
    const Command& command = commands[i];
    const int c = static_cast<int>(i);
    for (BufferId id : command.operands) {
      uses[id.index].push_back({c, true, false});
    }
    auto write = [&](BufferId id) {
      if (!id.valid()) return;
      uses[id.index].push_back(
          {c, false, entry.buffers[id.index].range.Canonical().count == 1});
    };
    for (BufferId id : command.results) write(id);
    write(command.workspace);
  }
  return uses;
}

}  // namespace

absl::StatusOr<std::vector<MemoryBound>> BoundMemory(const Plan& plan,
                                                     const Entry& entry) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Command> commands, Expand(entry));
  for (const Command& command : commands) {
    if (command.channel.valid()) {
      return absl::UnimplementedError(absl::StrCat(
          "entry @", entry.name,
          ": found messages; expected copies, events and collectives only"));
    }
  }
  const Order order(entry, commands);
  const std::vector<std::vector<BufferUse>> uses = UsesOf(entry, commands);
  std::vector<MemoryBound> bounds;
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    bounds.push_back(
        DeviceBound(entry, commands, order, uses, DeviceId(static_cast<int>(d)))
            .Run());
  }
  return bounds;
}

}  // namespace partita
