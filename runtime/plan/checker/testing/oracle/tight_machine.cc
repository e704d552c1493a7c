// A machine without slack: it runs nodes one by one in launch order.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/oracle/tight_machine.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

using Kind = Command::Kind;

class TightMachine {
 public:
  explicit TightMachine(const Unrolled& program)
      : program_(program),
        ended_(program.ops.size()),
        in_flight_(program.entry->channels.size()) {}

  std::string Run() {
    for (int i = 0; i < static_cast<int>(program_.ops.size()); ++i) {
      if (!Launch(i)) {
        return absl::StrCat("command ", program_.ops[i].command.index,
                            " of step ", program_.ops[i].step,
                            " waits for ever");
      }
    }
    return gathered_.empty() ? "" : "a part waits for ever for the others";
  }

 private:
  bool Launch(int i) {
    const Op& op = program_.ops[i];
    switch (op.what->kind) {
      case Kind::kCollective:
        return LaunchCollective(
            i, program_.entry->groups[op.what->group.index].ranks.size());
      case Kind::kSend:
      case Kind::kRecv:
        if (Capacity(op) == 0) return LaunchMessage(i);
        break;
      default:
        break;
    }
    if (!gathered_.empty()) return false;
    if (op.what->kind == Kind::kWait && !AnyEnded(op.partners)) return false;
    if (op.what->kind == Kind::kSend) {
      if (in_flight_[op.what->channel.index] == Capacity(op)) return false;
      ++in_flight_[op.what->channel.index];
    }
    if (op.what->kind == Kind::kRecv) {
      if (in_flight_[op.what->channel.index] == 0) return false;
      --in_flight_[op.what->channel.index];
    }
    ended_[i] = true;
    return true;
  }

  int Capacity(const Op& op) const {
    return program_.entry->channels[op.what->channel.index].capacity;
  }

  bool AnyEnded(const std::vector<int>& ops) const {
    for (int op : ops) {
      if (ended_[op]) return true;
    }
    return false;
  }

  // All gathered ops must belong to the same collective.
  bool LaunchCollective(int i, size_t ranks) {
    const std::vector<int>& parts = program_.ops[i].partners;
    const std::set<int> together(parts.begin(), parts.end());
    for (int other : gathered_) {
      if (together.count(other) == 0) return false;
    }
    gathered_.insert(i);
    if (gathered_.size() == ranks) End();
    return true;
  }

  // The two ends of a message without a slot.
  bool LaunchMessage(int i) {
    const Op& op = program_.ops[i];
    if (gathered_.empty()) {
      gathered_.insert(i);
      return true;
    }
    const Op& other = program_.ops[*gathered_.begin()];
    if (gathered_.size() != 1 || other.what->kind == op.what->kind ||
        (other.what->kind != Kind::kSend && other.what->kind != Kind::kRecv) ||
        other.what->channel != op.what->channel || other.number != op.number) {
      return false;
    }
    gathered_.insert(i);
    End();
    return true;
  }

  void End() {
    for (int op : gathered_) ended_[op] = true;
    gathered_.clear();
  }

  const Unrolled& program_;
  std::vector<bool> ended_;
  std::vector<int> in_flight_;  // messages in flight, by channel
  std::set<int> gathered_;      // ops of the collective that is being launched
};

}  // namespace

std::string WhereTightMachineSticks(const Unrolled& program) {
  return TightMachine(program).Run();
}

}  // namespace partita
