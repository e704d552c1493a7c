// Pairs records with waits, sends with receives, and the ranks of collectives.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/oracle/op_partners.h"

#include <algorithm>
#include <map>
#include <vector>

#include "graph/op_view.h"
#include "runtime/plan/checker/testing/oracle/roles.h"

namespace partita {
namespace {

using Kind = Command::Kind;

// The partners that a rank must wait for: those whose bytes reach it, and those
// that perform another collective than it expects.
std::vector<int> ReachedBy(const Unrolled& unrolled, const Op& op) {
  const NodeId node = op.what->instance.node;
  const OpView view = unrolled.entry->graph->view(node);
  const std::vector<Role> roles = RolesIn(view);
  const int wanted = roles[op.what->instance.rank].receives;
  std::vector<int> awaited;
  for (int part : op.partners) {
    const Instance& other = unrolled.ops[part].what->instance;
    const int given = other.node == node ? roles[other.rank].sends : wanted;
    const bool reaches = wanted >= 0 && given >= 0 &&
                         (other.node != node || Reaches(view, given, wanted));
    if (reaches) awaited.push_back(part);
  }
  return awaited;
}

// A communicator serves only the streams of its group.
bool IsRank(const Unrolled& unrolled, const Command& part) {
  const std::vector<StreamId>& ranks =
      unrolled.entry->groups[part.group.index].ranks;
  return std::find(ranks.begin(), ranks.end(), part.stream) != ranks.end();
}

}  // namespace

// Numbers messages and collectives in each stream, from 0 in each step.
void NumberPartners(Unrolled& unrolled) {
  std::map<std::vector<int>, int> counts;
  std::map<std::vector<int>, std::vector<int>> parts;
  std::map<std::vector<int>, int> sends;
  std::map<std::vector<int>, std::vector<int>> records;
  for (int i = 0; i < static_cast<int>(unrolled.ops.size()); ++i) {
    Op& op = unrolled.ops[i];
    const Command& command = *op.what;
    if (command.kind == Kind::kRecord) {
      records[{op.step, command.event.index}].push_back(i);
    } else if (command.kind == Kind::kCollective) {
      const int group = command.group.index;
      if (!IsRank(unrolled, command)) continue;
      op.number = counts[{0, op.step, group, command.stream.index}]++;
      parts[{op.step, group, op.number}].push_back(i);
    } else if (command.kind == Kind::kSend) {
      op.number = counts[{1, op.step, command.channel.index}]++;
      sends[{op.step, command.channel.index, op.number}] = i;
    } else if (command.kind == Kind::kRecv) {
      op.number = counts[{2, op.step, command.channel.index}]++;
    }
  }
  for (Op& op : unrolled.ops) {
    const Command& command = *op.what;
    if (command.kind == Kind::kWait) {
      op.partners = records[{op.step, command.event.index}];
    } else if (command.kind == Kind::kCollective) {
      op.partners = parts[{op.step, command.group.index, op.number}];
      op.awaited = ReachedBy(unrolled, op);
    } else if (command.kind == Kind::kRecv) {
      auto send = sends.find({op.step, command.channel.index, op.number});
      if (send == sends.end()) continue;
      op.partners = op.awaited = {send->second};
      unrolled.ops[send->second].receiver =
          static_cast<int>(&op - unrolled.ops.data());
    }
  }
}

// A message is contiguous in its slot, from the slot's first byte on.
void LocateMessages(Unrolled& unrolled) {
  for (Op& op : unrolled.ops) {
    if (op.what->kind != Kind::kSend) continue;
    const std::vector<BufferId>& slots =
        unrolled.entry->channels[op.what->channel.index].slots;
    if (slots.empty()) continue;
    Buffer slot =
        unrolled.entry->buffers[slots[op.number % slots.size()].index];
    slot.range = {slot.range.offset,
                  static_cast<int64_t>(op.operands[0].size()), 1, 0};
    op.slot = unrolled.AddressesOf(slot, op.step);
  }
}

}  // namespace partita
