// Live ranges from the commands of a plan, and their heaviest antichain.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/memory_bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/round_up.h"
#include "graph/status_macros.h"
#include "placement/lower/antichain.h"
#include "placement/lower/count_rows.h"

namespace partita {
namespace {

constexpr int64_t kUnit = 64;

// One command's use of a buffer.
struct BufferUse {
  int command;
  bool reads;
  bool begins;  // may begin a live range: a write of one block
};

// What each command knows at its start: how many commands of each stream have
// ended.
class Order {
 public:
  Order(const Entry& entry, const std::vector<Command>& commands)
      : commands_(commands),
        rows_(entry.streams.size()),
        now_(entry.streams.size(), CountRows::kNothing),
        count_(entry.streams.size(), 0),
        learning_(entry.streams.size()),
        recorded_(entry.num_events, -1) {
    for (size_t i = 0, end = 0; i < commands.size(); i = end) {
      end = i + 1;
      while (end < commands.size() &&
             SameCollective(commands[i], commands[end])) {
        ++end;
      }
      for (size_t c = i; c < end; ++c) Add(static_cast<int>(c));
      if (commands[i].kind == Command::Kind::kCollective) EndCollective(i, end);
    }
  }
  int Known(int command, int stream) const {
    return stream == StreamOf(command) ? position_[command] - 1
                                       : rows_.At(starts_[command], stream);
  }
  int Position(int command) const { return position_[command]; }
  int StreamOf(int command) const { return commands_[command].stream.index; }

 private:
  static bool SameCollective(const Command& first, const Command& command) {
    return first.kind == Command::Kind::kCollective &&
           command.kind == first.kind &&
           command.instance.node == first.instance.node &&
           command.instance.micro_batch == first.instance.micro_batch;
  }

  void Add(int c) {
    const int stream = StreamOf(c);
    const int event = commands_[c].event.index;
    if (commands_[c].kind == Command::Kind::kWait) {
      Learn(stream, recorded_[event]);
    } else if (learning_[stream].has_value()) {
      now_[stream] = learning_[stream]->Finish();
      learning_[stream].reset();
    }
    if (commands_[c].kind == Command::Kind::kRecord) recorded_[event] = c;
    starts_.push_back(now_[stream]);
    position_.push_back(++count_[stream]);
  }

  // Waits access no memory, so consecutive waits share one row, which the next
  // command stores.
  void Learn(int stream, int record) {
    if (record < 0) return;
    std::optional<RowBuilder>& mine = learning_[stream];
    if (!mine.has_value()) mine.emplace(rows_, now_[stream]);
    mine->Join(starts_[record]);
    mine->Raise(StreamOf(record), position_[record]);
  }

  // No rank's command ends before all have started.
  void EndCollective(size_t first, size_t end) {
    RowBuilder all(rows_, CountRows::kNothing);
    for (size_t i = first; i < end; ++i) {
      all.Join(starts_[i]);
      all.Raise(commands_[i].stream.index, position_[i] - 1);
    }
    const int started = all.Finish();
    for (size_t i = first; i < end; ++i) {
      int& now = now_[commands_[i].stream.index];
      RowBuilder mine(rows_, now);
      mine.Join(started);
      now = mine.Finish();
    }
  }

  const std::vector<Command>& commands_;
  CountRows rows_;          // do not count a stream's own commands
  std::vector<int> now_;    // by stream: a row
  std::vector<int> count_;  // by stream: number of commands so far
  // By stream: the row of its current waits.
  std::vector<std::optional<RowBuilder>> learning_;
  std::vector<int> recorded_;  // by event: the record
  std::vector<int> starts_;    // by command: a row
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
    NumberStreams();
    std::vector<StreamLiveRange> live_ranges;
    for (const auto& [users, weight] : weights_) {
      live_ranges.push_back(LiveRangeOf(users, weight));
    }
    return {top_, HeaviestAntichain(live_ranges)};
  }

 private:
  // Sweeps the ends of all buffers. Between two neighbouring ends, the same
  // buffers cover all bytes.
  void SweepArena() {
    std::map<int64_t, std::pair<std::vector<int>, std::vector<int>>> edges;
    for (size_t i = 0; i < entry_.buffers.size(); ++i) {
      const Buffer& buffer = entry_.buffers[i];
      if (buffer.device != device_ || buffer.persistent ||
          buffer.range.empty() || uses_[i].empty()) {
        continue;
      }
      const int64_t end = RoundUp(buffer.range.end(), kUnit);
      top_ = std::max(top_, end);
      edges[buffer.range.offset / kUnit * kUnit].first.push_back(
          static_cast<int>(i));
      edges[end].second.push_back(static_cast<int>(i));
    }
    std::set<int> covering;
    int64_t begin = 0;
    for (const auto& [at, change] : edges) {
      if (!covering.empty()) AddLiveRanges(covering, at - begin);
      for (int buffer : change.second) covering.erase(buffer);
      for (int buffer : change.first) covering.insert(buffer);
      begin = at;
    }
  }

  // Splits the uses of some bytes into live ranges, in launch order. A write
  // begins a new live range if it follows all earlier uses and its command does
  // not read the bytes.
  void AddLiveRanges(const std::set<int>& covering, int64_t bytes) {
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
      return order_.Known(command, order_.StreamOf(user)) >=
             order_.Position(user);
    });
  }

  void Keep(const std::vector<int>& users, int64_t bytes) {
    if (!users.empty()) weights_[users] += bytes;
  }

  // Numbers the streams that access the arena; live ranges depend on no others.
  void NumberStreams() {
    std::set<int> used;
    for (const auto& [users, weight] : weights_) {
      for (int user : users) used.insert(order_.StreamOf(user));
    }
    streams_.assign(used.begin(), used.end());
  }

  int NumberOf(int command) const {
    return static_cast<int>(
        absl::c_lower_bound(streams_, order_.StreamOf(command)) -
        streams_.begin());
  }

  StreamLiveRange LiveRangeOf(const std::vector<int>& users,
                              int64_t weight) const {
    StreamLiveRange live_range{.weight = weight,
                               .stream = NumberOf(users[0]),
                               .position = order_.Position(users[0])};
    live_range.known.assign(streams_.size(), std::numeric_limits<int>::max());
    std::map<int, int> ends;
    for (int user : users) {
      int& end = ends[NumberOf(user)];
      end = std::max(end, order_.Position(user));
      for (size_t s = 0; s < streams_.size(); ++s) {
        live_range.known[s] =
            std::min(live_range.known[s], order_.Known(user, streams_[s]));
      }
    }
    live_range.ends.assign(ends.begin(), ends.end());
    return live_range;
  }

  const Entry& entry_;
  const std::vector<Command>& commands_;
  const Order& order_;
  const std::vector<std::vector<BufferUse>>& uses_;
  const DeviceId device_;
  int64_t top_ = 0;
  // By the commands of a live range.
  std::map<std::vector<int>, int64_t> weights_;
  std::vector<int> streams_;  // ascending
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
