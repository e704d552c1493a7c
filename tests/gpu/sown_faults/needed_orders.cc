// Which commands of a plan access the same bytes.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/plan/plan_layout.h"
#include "tests/gpu/sown_faults/issued_work.h"

namespace partita {
namespace {

struct Accessed {
  DeviceId device;
  Range range;  // in the arena
  bool writes = false;
};

bool Overlap(const Range& a, const Range& b) {
  if (a.empty() || b.empty()) return false;
  if (a.end() <= b.offset || b.end() <= a.offset) return false;
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t a_begin = a.offset + i * a.stride;
    for (int64_t j = 0; j < b.count; ++j) {
      const int64_t b_begin = b.offset + j * b.stride;
      if (a_begin < b_begin + b.block && b_begin < a_begin + a.block) {
        return true;
      }
    }
  }
  return false;
}

bool Conflict(const std::vector<Accessed>& a, const std::vector<Accessed>& b) {
  for (const Accessed& x : a) {
    for (const Accessed& y : b) {
      if ((x.writes || y.writes) && x.device == y.device &&
          Overlap(x.range, y.range)) {
        return true;
      }
    }
  }
  return false;
}

class Reader {
 public:
  Reader(const Plan& plan, const Entry& entry, const CommandList& commands,
         int64_t step)
      : plan_(plan), entry_(entry), step_(step) {
    for (const Command& command : commands) {
      if (command.kind != Command::Kind::kSend) continue;
      messages_[command.channel.index].push_back(command.operands[0]);
    }
  }

  std::vector<Accessed> Of(const Command& command) {
    std::vector<Accessed> all;
    for (const Access& access : Accesses(entry_, command)) {
      all.push_back(At(access.buffer, access.kind != Access::Kind::kRead));
    }
    if (command.kind == Command::Kind::kSend) AddSent(command, all);
    if (command.kind == Command::Kind::kRecv) AddReceived(command, all);
    return all;
  }

 private:
  Accessed At(BufferId id, bool writes) const {
    const Buffer& buffer = entry_.buffers[id.index];
    return {buffer.device, AbsoluteRange(plan_, entry_, buffer, step_), writes};
  }
  // Message n of a channel is in slot n mod capacity; without slots, the
  // receiver reads the sender's bytes.
  void AddSent(const Command& command, std::vector<Accessed>& all) {
    const Channel& channel = entry_.channels[command.channel.index];
    const size_t number = sent_[command.channel.index]++;
    if (channel.capacity == 0) return;
    all.push_back(At(channel.slots[number % channel.slots.size()], true));
  }
  void AddReceived(const Command& command, std::vector<Accessed>& all) {
    const Channel& channel = entry_.channels[command.channel.index];
    const size_t number = received_[command.channel.index]++;
    all.push_back(At(channel.capacity > 0
                         ? channel.slots[number % channel.slots.size()]
                         : messages_[command.channel.index].at(number),
                     false));
  }

  const Plan& plan_;
  const Entry& entry_;
  const int64_t step_;
  std::map<int32_t, std::vector<BufferId>> messages_;  // by channel
  std::map<int32_t, size_t> sent_;
  std::map<int32_t, size_t> received_;
};

// By command.
using AccessedBytes = std::vector<std::vector<Accessed>>;

AccessedBytes AccessedIn(const Plan& plan, const Entry& entry,
                         const CommandList& commands, int64_t step) {
  Reader reader(plan, entry, commands, step);
  AccessedBytes accessed;
  for (const Command& command : commands) {
    EXPECT_NE(command.kind, Command::Kind::kCollective);
    accessed.push_back(reader.Of(command));
  }
  return accessed;
}

}  // namespace

// Within a step in the order of commands; a step that may overlap with a later
// one comes before it.
std::vector<NeededOrder> NeededOrders(const Plan& plan, int entry) {
  const Entry& of = plan.entries[entry];
  const absl::StatusOr<CommandList> commands = Expand(of);
  EXPECT_TRUE(commands.ok()) << commands.status();
  if (!commands.ok()) return {};
  const AccessedBytes first = AccessedIn(plan, of, *commands, 0);
  const auto count = static_cast<int32_t>(first.size());
  std::vector<NeededOrder> needed;
  for (int32_t later = 0; later <= (of.depth == 1 ? 0 : of.depth); ++later) {
    const AccessedBytes second = AccessedIn(plan, of, *commands, later);
    for (int32_t b = 0; b < count; ++b) {
      for (int32_t a = 0; a < (later == 0 ? b : count); ++a) {
        if (!Conflict(first[a], second[b])) continue;
        needed.push_back(
            {CommandId(a), CommandId(b), static_cast<uint64_t>(later)});
      }
    }
  }
  return needed;
}

}  // namespace partita
