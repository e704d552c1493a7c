// Waits until others have come to rest, or have ended.
// SPDX-License-Identifier: Apache-2.0

#include "tests/mutants/hold.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

namespace partita {
namespace {

using Kind = Command::Kind;
using std::chrono::microseconds;

// Streams that wait for others are at rest after this long.
constexpr microseconds kQuiet(60);
// A thread between two commands may be late by this much.
constexpr microseconds kLate(3000);
constexpr microseconds kLook(10);

bool WaitsForOthers(Kind kind) {
  return kind == Kind::kWait || kind == Kind::kCollective ||
         kind == Kind::kSend || kind == Kind::kRecv;
}

}  // namespace

HoldingObserver::HoldingObserver(
    const Entry& entry, CommandList commands,
    std::function<void(uint64_t step, CommandId command)> on_begin)
    : entry_(entry),
      commands_(std::move(commands)),
      on_begin_(std::move(on_begin)) {
  FindPartners();
  last_of_stream_ = IdVector<CommandId, bool>(commands_.size());
  std::map<StreamId, CommandId> last;
  for (CommandId c : commands_.ids()) last[commands_[c].stream] = c;
  for (const auto& [stream, command] : last) last_of_stream_[command] = true;
}

// Matches the ranks of collectives, and the two ends of messages without a
// slot.
void HoldingObserver::FindPartners() {
  std::map<std::vector<int>, int> counts;
  std::map<std::vector<int>, std::vector<CommandId>> partners;
  IdVector<CommandId, std::vector<int>> keys(commands_.size());
  for (CommandId c : commands_.ids()) {
    const Command& command = commands_[c];
    if (command.kind == Kind::kCollective) {
      const int number =
          counts[{0, command.group.index, command.stream.index}]++;
      keys[c] = {0, command.group.index, number};
    } else if (command.kind == Kind::kSend || command.kind == Kind::kRecv) {
      if (entry_.channels[command.channel.index].capacity > 0) continue;
      const int end = command.kind == Kind::kSend ? 1 : 2;
      keys[c] = {1, command.channel.index,
                 counts[{end, command.channel.index}]++};
    }
    if (!keys[c].empty()) partners[keys[c]].push_back(c);
  }
  for (const std::vector<int>& key : keys) {
    partners_.Add(key.empty() ? std::vector<CommandId>() : partners[key]);
  }
}

void HoldingObserver::Begin(Hold hold, std::chrono::milliseconds patience) {
  std::lock_guard<std::mutex> lock(mutex_);
  hold_ = hold;
  patience_ = patience;
  released_ = stuck_ = false;
  states_.assign(entry_.streams.size(), State::kIdle);
  phases_.clear();
  moved_ = Clock::now();
}

IdVector<CommandId, HoldingObserver::Phase>& HoldingObserver::PhasesOf(
    uint64_t step) {
  IdVector<CommandId, Phase>& phases = phases_[step];
  if (phases.empty()) {
    phases = IdVector<CommandId, Phase>(commands_.size(), Phase::kQueued);
  }
  return phases;
}

void HoldingObserver::Move(CommandId command, State state) {
  states_[commands_[command].stream.index] = state;
  moved_ = Clock::now();
}

bool HoldingObserver::IsHeld(CommandId command) const {
  return (hold_.what == Hold::What::kCommand && hold_.index == command.index) ||
         (hold_.what == Hold::What::kStream &&
          hold_.index == commands_[command].stream.index);
}

bool HoldingObserver::IsAtRest(int stream) const {
  for (int s = 0; s < static_cast<int>(states_.size()); ++s) {
    if (s != stream && states_[s] == State::kBusy) return false;
  }
  return true;
}

void HoldingObserver::WaitForOthers(CommandId command) {
  const int stream = commands_[command].stream.index;
  while (true) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto still = Clock::now() - moved_;
      if (still > kLate || (still > kQuiet && IsAtRest(stream))) return;
    }
    std::this_thread::sleep_for(kLook);
  }
}

bool HoldingObserver::MayBeLaunched(uint64_t step, CommandId command) {
  const IdVector<CommandId, Phase>& phases = PhasesOf(step);
  const std::vector<CommandId>& partners = partners_[command];
  for (CommandId c(0); c < command; ++c.index) {
    const bool partner = std::count(partners.begin(), partners.end(), c) > 0;
    if (phases[c] == Phase::kEnded) continue;
    if (!partner || phases[c] == Phase::kQueued) return false;
  }
  return true;
}

void HoldingObserver::WaitForTurn(uint64_t step, CommandId command) {
  while (true) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (released_ || MayBeLaunched(step, command)) return;
      if (Clock::now() - moved_ > patience_) {
        stuck_ = released_ = true;
        return;
      }
    }
    std::this_thread::sleep_for(kLook);
  }
}

void HoldingObserver::Before(uint64_t step, CommandId command) {
  const bool in_order = hold_.what == Hold::What::kLaunchOrder;
  if (in_order) {
    WaitForTurn(step, command);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    on_begin_(step, command);
    PhasesOf(step)[command] = Phase::kBegun;
    Move(command, IsHeld(command)                           ? State::kHeld
                  : WaitsForOthers(commands_[command].kind) ? State::kWaits
                                                            : State::kBusy);
  }
  if (IsHeld(command)) {
    WaitForOthers(command);
    std::lock_guard<std::mutex> lock(mutex_);
    Move(command, WaitsForOthers(commands_[command].kind) ? State::kWaits
                                                          : State::kBusy);
  }
}

void HoldingObserver::After(uint64_t step, CommandId command) {
  std::lock_guard<std::mutex> lock(mutex_);
  PhasesOf(step)[command] = Phase::kEnded;
  Move(command, last_of_stream_[command] ? State::kIdle : State::kBusy);
}

bool HoldingObserver::stuck() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stuck_;
}

}  // namespace partita
