// Clocks of streams, events and threads.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/issued_work.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace partita {

void IssuedWork::Join(Clock& clock, const Clock& other) {
  for (const auto& [chain, count] : other) {
    uint64_t& mine = clock[chain];
    mine = std::max(mine, count);
  }
}

bool IssuedWork::Covers(const Clock& clock, const Place& place) {
  const auto found = clock.find(place.chain);
  return found != clock.end() && found->second >= place.count;
}

IssuedWork::Thread& IssuedWork::ThisThread() {
  const auto [at, is_new] = threads_.try_emplace(std::this_thread::get_id());
  if (is_new) {
    at->second.chain = static_cast<Chain>(counts_.size());
    counts_.push_back(0);
    at->second.clock = start_;
  }
  return at->second;
}

IssuedWork::Chain IssuedWork::ChainOf(HandleKey stream) {
  const auto [at, is_new] = stream_chains_.try_emplace(stream);
  if (is_new) {
    at->second = static_cast<Chain>(counts_.size());
    counts_.push_back(0);
  }
  return at->second;
}

IssuedWork::Clock IssuedWork::AllThreads() const {
  Clock all;
  for (const auto& [id, thread] : threads_) Join(all, thread.clock);
  return all;
}

void IssuedWork::BeginCommand(uint64_t step, CommandId command,
                              const HostCommand& host) {
  Thread& thread = ThisThread();
  thread.step = step;
  thread.command = command;
  thread.at_begin = thread.clock;
  // Before others may see it.
  if (host.records.has_value()) {
    host_events_[host.records->index] = thread.clock;
  }
}

void IssuedWork::EndCommand(const HostCommand& host) {
  Thread& thread = ThisThread();
  if (host.waits_for.has_value()) {
    Join(thread.clock, host_events_[host.waits_for->index]);
  }
  if (host.is_work) {
    const Place done = Next(thread.chain);
    work_.push_back({.step = thread.step,
                     .command = thread.command,
                     .on_host = true,
                     .done = done,
                     .before = thread.at_begin,
                     .what = "work of the host"});
    thread.clock[thread.chain] = done.count;
  }
  thread.command.reset();
}

IssuedWork::Performed IssuedWork::Exchange(const Performed& performed) {
  Thread& thread = ThisThread();
  const Performed before = {thread.step, thread.command};
  thread.step = performed.step;
  thread.command = performed.command;
  return before;
}

void IssuedWork::BeginStep() {
  start_ = AllThreads();
  for (auto& [id, thread] : threads_) thread.clock = start_;
}

void IssuedWork::EndStep() {
  const Clock all = AllThreads();
  Require(all, "the step ends");
  ThisThread().clock = all;
}

void IssuedWork::Require(const Clock& clock, const std::string& when) {
  for (const Work& work : work_) {
    if (Covers(clock, work.done)) continue;
    violations_.push_back(
        absl::StrCat(when, " while ", work.what, " may be going on"));
  }
}

void IssuedWork::AddWork(HandleKey stream, const std::string& what) {
  Thread& thread = ThisThread();
  const Chain chain = ChainOf(stream);
  Clock& clock = streams_[chain];
  Join(clock, thread.clock);
  Work work = {.step = thread.step,
               .command = thread.command,
               .before = clock,
               .what = what};
  work.done = Next(chain);
  clock[chain] = work.done.count;
  work_.push_back(std::move(work));
}

void IssuedWork::AddStagedCopy(HandleKey stream, const std::string& what) {
  AddWork(stream, what);
  Thread& thread = ThisThread();
  const Place read = Next(thread.chain);
  thread.clock[thread.chain] = read.count;
  work_.back().source_read = read;
}

void IssuedWork::Record(HandleKey event, HandleKey stream) {
  Clock& clock = streams_[ChainOf(stream)];
  Join(clock, ThisThread().clock);
  events_[event] = clock;
}

void IssuedWork::Wait(HandleKey stream, HandleKey event) {
  Join(streams_[ChainOf(stream)], events_[event]);
}

void IssuedWork::HostWaitsForEvent(HandleKey event) {
  Join(ThisThread().clock, events_[event]);
}

void IssuedWork::HostWaitsForStream(HandleKey stream) {
  Join(ThisThread().clock, streams_[ChainOf(stream)]);
}

void IssuedWork::Free() { Require(ThisThread().clock, "memory is freed"); }

// The host changes no memory but its own: of a staged copy, the source.
bool IssuedWork::IsOrdered(const Work& first, const Work& second) const {
  if (second.on_host && first.source_read.has_value()) {
    return Covers(second.before, *first.source_read);
  }
  return Covers(second.before, first.done);
}

std::vector<std::string> IssuedWork::Violations(
    const std::vector<NeededOrder>& needed) const {
  std::map<std::pair<uint64_t, int32_t>, std::vector<const Work*>> by_command;
  uint64_t steps = 0;
  for (const Work& work : work_) {
    if (!work.command.has_value()) continue;
    by_command[{work.step, work.command->index}].push_back(&work);
    steps = std::max(steps, work.step + 1);
  }
  std::vector<std::string> found = violations_;
  for (uint64_t step = 0; step < steps; ++step) {
    for (const NeededOrder& order : needed) {
      for (const Work* first : by_command[{step, order.first.index}]) {
        for (const Work* second : by_command[{step, order.second.index}]) {
          if (IsOrdered(*first, *second) || IsOrdered(*second, *first)) {
            continue;
          }
          found.push_back(absl::StrCat(
              "step ", step, ": nothing orders command ", order.first.index,
              " (", first->what, ") before command ", order.second.index, " (",
              second->what, ")"));
        }
      }
    }
  }
  return found;
}

}  // namespace partita
