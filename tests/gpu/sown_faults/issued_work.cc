// Clocks of streams, events and threads.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/issued_work.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

bool Overlap(uintptr_t a, size_t a_bytes, uintptr_t b, size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

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
  if (step != thread.step) thread.ended[thread.step] = thread.clock;
  Join(thread.clock, starts_[step]);
  thread.step = step;
  thread.command = command;
  thread.at_begin = thread.clock;
  // Before others may see it.
  if (host.records.has_value()) {
    host_events_[{step, host.records->index}] = thread.clock;
  }
}

void IssuedWork::EndCommand(const HostCommand& host) {
  Thread& thread = ThisThread();
  if (host.waits_for.has_value()) {
    Join(thread.clock, host_events_[{thread.step, host.waits_for->index}]);
  }
  if (host.is_work) {
    const Place done = Next(thread.chain);
    work_.push_back({.step = thread.step,
                     .command = thread.command,
                     .on_host = true,
                     .done = done,
                     .before = thread.at_begin,
                     .issued = {.what = "work of the host"}});
    thread.clock[thread.chain] = done.count;
  }
  thread.command.reset();
}

IssuedWork::Performed IssuedWork::SetPerformed(const Performed& performed) {
  Thread& thread = ThisThread();
  const Performed before = {thread.step, thread.command};
  thread.step = performed.step;
  thread.command = performed.command;
  return before;
}

IssuedWork::Clock IssuedWork::AllThreadsAtEnd(uint64_t step) const {
  Clock all;
  for (const auto& [id, thread] : threads_) {
    const auto ended = thread.ended.find(step);
    Join(all, ended == thread.ended.end() ? thread.clock : ended->second);
  }
  return all;
}

void IssuedWork::EndLoading() {
  const Clock all = AllThreads();
  Require(all, "a load ends", [](const Work&) { return true; });
  ThisThread().clock = all;
}

void IssuedWork::BeginStep(uint64_t step) {
  start_ = starts_[step] = ThisThread().clock;
}

void IssuedWork::EndStep(uint64_t step) {
  const Clock all = AllThreadsAtEnd(step);
  Require(all, "the step ends",
          [step](const Work& work) { return work.step <= step; });
  Join(ThisThread().clock, all);
}

bool IssuedWork::Accesses(const Issued& issued, const Block& block) {
  if (!issued.copied.has_value()) {
    return block.context != 0 && issued.context == block.context;
  }
  const Copied& copied = *issued.copied;
  return Overlap(copied.to, copied.bytes, block.address, block.bytes) ||
         Overlap(copied.from, copied.bytes, block.address, block.bytes);
}

template <typename Concerns>
void IssuedWork::Require(const Clock& clock, const std::string& when,
                         Concerns concerns) {
  for (const Work& work : work_) {
    if (Covers(clock, work.done) || !concerns(work)) continue;
    violations_.push_back(
        absl::StrCat(when, " while ", work.issued.what, " may be going on"));
  }
}

void IssuedWork::AddWork(HandleKey stream, const Issued& issued) {
  Thread& thread = ThisThread();
  const Chain chain = ChainOf(stream);
  Clock& clock = streams_[chain];
  Join(clock, thread.clock);
  Work work = {.step = thread.step,
               .command = thread.command,
               .before = clock,
               .issued = issued};
  work.done = Next(chain);
  clock[chain] = work.done.count;
  work_.push_back(std::move(work));
}

void IssuedWork::AddStagedCopy(HandleKey stream, const Issued& issued) {
  AddWork(stream, issued);
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

void IssuedWork::LaunchGraph(HandleKey stream, HandleKey exec,
                             const std::vector<GraphNode>& nodes) {
  const Thread& thread = ThisThread();
  Clock& clock = streams_[ChainOf(stream)];
  Join(clock, thread.clock);
  Join(clock, execs_[exec]);
  Clock end = clock;
  std::vector<Clock> done;  // by node
  for (const GraphNode& node : nodes) {
    Clock before = clock;
    for (const size_t earlier : node.after) Join(before, done.at(earlier));
    done.push_back(before);
    if (!node.issued.has_value()) continue;
    // Nothing orders nodes but edges: each is a chain of its own.
    const auto chain = static_cast<Chain>(counts_.size());
    counts_.push_back(0);
    const Place place = Next(chain);
    done.back()[chain] = end[chain] = place.count;
    work_.push_back({.step = thread.step,
                     .command = node.command,
                     .done = place,
                     .before = std::move(before),
                     .issued = *node.issued});
  }
  execs_[exec] = end;
  clock = std::move(end);
}

void IssuedWork::HostWaitsForEvent(HandleKey event) {
  Join(ThisThread().clock, events_[event]);
}

void IssuedWork::HostWaitsForStream(HandleKey stream) {
  Join(ThisThread().clock, streams_[ChainOf(stream)]);
}

void IssuedWork::Free(const Block& block) {
  Require(ThisThread().clock, "memory is freed",
          [&](const Work& work) { return Accesses(work.issued, block); });
}

// Of two commands that conflict, not all works do: by way of the host, the
// second copy does not read the first one's source.
bool IssuedWork::MayConflict(const Work& a, const Work& b) {
  if (a.on_host || b.on_host) return true;
  const std::optional<Copied>& x = a.issued.copied;
  const std::optional<Copied>& y = b.issued.copied;
  if (x.has_value() && y.has_value()) {
    return Overlap(x->to, x->bytes, y->to, y->bytes) ||
           Overlap(x->to, x->bytes, y->from, y->bytes) ||
           Overlap(x->from, x->bytes, y->to, y->bytes);
  }
  if (!x.has_value() && !y.has_value()) return true;
  const Copied& copied = x.has_value() ? *x : *y;
  const HandleKey kernels = (x.has_value() ? b : a).issued.context;
  return copied.to_context == kernels || copied.from_context == kernels;
}

// The host changes no memory but its own: of a staged copy, the source.
bool IssuedWork::IsOrdered(const Work& first, const Work& second) const {
  if (second.on_host && first.source_read.has_value()) {
    return Covers(second.before, *first.source_read);
  }
  return Covers(second.before, first.done);
}

std::vector<std::string> IssuedWork::Unordered(uint64_t step,
                                               const NeededOrder& order,
                                               ByCommand& works) const {
  std::vector<std::string> found;
  const std::string of_later =
      order.steps_later == 0
          ? ""
          : absl::StrCat(" of step ", step + order.steps_later);
  for (const Work* first : works[{step, order.first.index}]) {
    for (const Work* second :
         works[{step + order.steps_later, order.second.index}]) {
      if (!MayConflict(*first, *second)) continue;
      if (IsOrdered(*first, *second) || IsOrdered(*second, *first)) continue;
      found.push_back(absl::StrCat("step ", step, ": nothing orders command ",
                                   order.first.index, " (", first->issued.what,
                                   ") before command ", order.second.index,
                                   of_later, " (", second->issued.what, ")"));
    }
  }
  return found;
}

// What one copies to, and another copies from or to.
std::vector<std::string> IssuedWork::Unordered(
    const std::vector<const Work*>& hops) const {
  std::vector<std::string> found;
  for (const Work* writer : hops) {
    if (!writer->issued.copied.has_value()) continue;
    const Copied& copied = *writer->issued.copied;
    const Block written = {.address = copied.to, .bytes = copied.bytes};
    for (const Work* other : hops) {
      if (writer == other || !Accesses(other->issued, written) ||
          IsOrdered(*writer, *other) || IsOrdered(*other, *writer)) {
        continue;
      }
      found.push_back(absl::StrCat("step ", writer->step,
                                   ": nothing orders the copies of command ",
                                   writer->command->index));
    }
  }
  return found;
}

std::vector<std::string> IssuedWork::Violations(
    const std::vector<NeededOrder>& needed) const {
  ByCommand works;
  uint64_t steps = 0;
  for (const Work& work : work_) {
    if (!work.command.has_value()) continue;
    works[{work.step, work.command->index}].push_back(&work);
    steps = std::max(steps, work.step + 1);
  }
  std::vector<std::string> found = violations_;
  const auto add = [&](std::vector<std::string> more) {
    std::move(more.begin(), more.end(), std::back_inserter(found));
  };
  for (const auto& [command, hops] : works) add(Unordered(hops));
  for (uint64_t step = 0; step < steps; ++step) {
    for (const NeededOrder& order : needed) add(Unordered(step, order, works));
  }
  return found;
}

}  // namespace partita
