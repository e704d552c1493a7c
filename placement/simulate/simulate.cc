// Event-driven simulation of streams and devices.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/simulate.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/cost/host_cores.h"
#include "placement/simulate/activities.h"
#include "placement/simulate/collective_arrivals.h"
#include "placement/simulate/command_cost.h"
#include "placement/simulate/deliveries.h"
#include "placement/simulate/event_board.h"
#include "placement/simulate/kernel_queues.h"
#include "placement/simulate/serial_streams.h"
#include "placement/simulate/step_log.h"
#include "placement/simulate/stream_wakes.h"
#include "runtime/plan/command_places.h"

namespace partita {
namespace {

using On = CommandCost::On;

class Simulator {
 public:
  Simulator(const Plan& plan, const Entry& entry,
            IdSpan<CommandId, Command> commands,
            const IdVector<CommandId, CommandCost>& costs,
            const HostCores& cores)
      : commands_(commands),
        costs_(costs),
        num_devices_(plan.devices.size()),
        log_(std::max(1, entry.depth), commands.size()),
        serial_(plan, entry, commands, log_.steps()),
        streams_(entry.streams.size()),
        kernels_(plan.devices.size()),
        events_(entry.num_events, log_.steps()),
        deliveries_(entry, commands, log_.steps()),
        arrivals_(commands, costs, log_.steps()),
        wakes_(plan, entry, commands, costs, cores),
        active_(costs, cores) {
    for (CommandId c : commands.ids()) {
      streams_[commands[c].stream].list.push_back(c);
    }
  }

  // False on deadlock.
  bool Run() {
    for (StreamId s : streams_.ids()) runnable_.insert(s);
    Progress();
    while (!active_.empty()) {
      for (const Activity& activity : active_.Advance()) End(activity);
      Progress();
    }
    return log_.have_all_ended();
  }

  // The first command that cannot run, for an error. (Skips streams that wait
  // for the end of an earlier step: another stream holds them up.)
  CommandId FirstStuck() const {
    CommandId first(static_cast<int>(commands_.size()));
    for (StreamId s : streams_.ids()) {
      const StreamState& stream = streams_[s];
      if (MayRun(s)) first = std::min(first, stream.list[stream.next]);
    }
    return first;
  }

  Simulation Result() {
    Simulation result = std::move(log_).Take();
    const double to_return = SecondsToReturn(result.latency_seconds);
    result.latency_seconds += to_return;
    result.step_seconds += to_return;
    result.busy.assign(num_devices_, 0);
    for (const CommandCost& cost : costs_) {
      if (cost.on != On::kCompute) continue;
      result.busy[cost.device.index] += cost.seconds;
    }
    return result;
  }

 private:
  double now() const { return active_.now(); }

  struct StreamState {
    std::vector<CommandId> list;  // in order
    int step = 0;
    size_t next = 0;    // index into list
    bool busy = false;  // its command runs or is queued
    double ready = 0;   // when its previous command ended
    CommandId last;     // that command; invalid: first of the step
  };

  // Rule 7. True if the stream has a command of a step that has begun.
  bool MayRun(StreamId s) const {
    const StreamState& stream = streams_[s];
    if (stream.step >= log_.steps() || stream.list.empty()) return false;
    return log_.MayStart(stream.step) && serial_.MayStart(s, stream.step);
  }

  // Starts all commands that can start now.
  void Progress() {
    while (!runnable_.empty()) {
      const StreamId s = *runnable_.begin();
      runnable_.erase(runnable_.begin());
      while (TryNext(s)) {
      }
    }
    // Kernels start last, so that launch order decides between kernels that
    // become ready at the same time.
    for (const KernelQueues::Start& start : kernels_.StartAll(now())) {
      const auto& [step, c, held_up_by] = start;
      log_.Start(step, c, now(),
                 held_up_by.valid() ? held_up_by : StreamOf(c).last);
      active_.Add({step, c, now() + SecondsToBegin(c) + costs_[c].seconds, 0});
    }
  }

  bool TryNext(StreamId s) {
    StreamState& stream = streams_[s];
    if (stream.busy || !MayRun(s)) return false;
    const CommandId c = stream.list[stream.next];
    const Command& command = commands_[c];
    if (command.kind == Command::Kind::kWait) return TryWait(s, c);
    if (command.kind == Command::Kind::kSend) return TrySend(s, c);
    if (command.kind == Command::Kind::kRecv) return TryRecv(s, c);
    if (command.kind == Command::Kind::kRecord) {
      events_.Record(stream.step, command.event, c, now());
      log_.Start(stream.step, c, now(), stream.last);
      Finish(stream.step, c);
      for (StreamId waiter : events_.TakeWaiters(command.event)) {
        runnable_.insert(waiter);
      }
      return true;
    }
    stream.busy = true;
    if (costs_[c].on == On::kCollective) {
      Arrive(stream.step, c);
    } else {
      Start(stream.step, c);
    }
    return true;
  }

  bool TryWait(StreamId s, CommandId c) {
    StreamState& stream = streams_[s];
    const EventId event = commands_[c].event;
    const double recorded = events_.RecordedAt(stream.step, event);
    if (recorded < 0) {
      events_.Await(event, s);
      return false;
    }
    const bool waited = recorded > stream.ready;
    log_.Start(stream.step, c, stream.ready,
               waited ? events_.recorder(event) : stream.last);
    Wake(s, c);
    return true;
  }

  // Rule 9. Ends a wait or recv, which began when the stream was ready.
  void Wake(StreamId s, CommandId c) {
    StreamState& stream = streams_[s];
    const double seconds = wakes_.SecondsAfter(s, now() - stream.ready);
    if (seconds > 0) {
      stream.busy = true;
      active_.Add({stream.step, c, now() + seconds, 0});
    } else {
      Finish(stream.step, c);
    }
  }

  // Rule 6. Starts the message if there is room for it.
  bool TrySend(StreamId s, CommandId c) {
    StreamState& stream = streams_[s];
    const double room = deliveries_.RoomSince(stream.step, c);
    if (room < 0) return false;
    CommandId cause = stream.last;
    if (room > stream.ready) {
      const ChannelMessage& message = deliveries_.MessageOf(c);
      cause = message.rendezvous ? StreamOf(message.recv).last
                                 : deliveries_.RoomFrom(c);
    }
    stream.busy = true;
    deliveries_.Of(stream.step, c).begun = now();
    Carry(stream.step, c, cause, wakes_.SecondsAfter(s, now() - stream.ready));
    return true;
  }

  bool TryRecv(StreamId s, CommandId c) {
    StreamState& stream = streams_[s];
    const CommandId send = deliveries_.MessageOf(c).send;
    Delivery& delivery = deliveries_.Of(stream.step, c);
    if (delivery.arrived < 0) {
      if (delivery.awaited < 0) {
        delivery.awaited = now();
        WakeStreamOf(send);
      }
      return false;
    }
    const bool waited = delivery.arrived > stream.ready;
    log_.Start(stream.step, c, std::max(stream.ready, delivery.begun),
               waited ? send : stream.last);
    delivery.received = now();
    Wake(s, c);
    WakeStreamOf(send);
    return true;
  }

  const StreamState& StreamOf(CommandId c) const {
    return streams_[commands_[c].stream];
  }

  void WakeStreamOf(CommandId c) {
    if (c.valid()) runnable_.insert(commands_[c].stream);
  }

  void WakeAll() {
    for (StreamId s : streams_.ids()) {
      if (!streams_[s].busy) runnable_.insert(s);
    }
  }

  void Start(int step, CommandId c) {
    const CommandCost& cost = costs_[c];
    if (cost.on == On::kCompute) {
      kernels_.Add(cost.device, now(), step, c);
      return;
    }
    Carry(step, c, StreamOf(c).last, SecondsToBegin(c));
  }

  // Rule 10.
  double SecondsToBegin(CommandId c) const {
    const bool begins = !StreamOf(c).last.valid();
    return begins ? wakes_.SecondsToBegin(commands_[c].stream) : 0;
  }

  double SecondsToReturn(double end_of_step) const {
    const StreamId caller = wakes_.caller();
    if (!caller.valid()) return 0;
    return wakes_.SecondsToReturn(end_of_step - streams_[caller].ready);
  }

  // `wake`: seconds until its stream, which waited, begins.
  void Carry(int step, CommandId c, CommandId cause, double wake = 0) {
    const CommandCost& cost = costs_[c];
    log_.Start(step, c, now(), cause);
    active_.Add({step, c, now() + wake + cost.seconds, cost.bytes});
  }

  // Rule 8. The last rank to arrive starts all of them, once those that waited
  // are awake.
  void Arrive(int step, CommandId c) {
    const absl::Span<const CommandId> ranks = arrivals_.Arrive(step, c);
    double wake = 0;
    for (CommandId rank : ranks) {
      wake = std::max(wake, wakes_.SecondsAfter(commands_[rank].stream,
                                                now() - StreamOf(rank).ready));
    }
    const CommandId cause = StreamOf(c).last;
    for (CommandId rank : ranks) {
      log_.Start(step, rank, now(), cause);
      active_.Add({step, rank, now() + wake + costs_[rank].seconds, 0});
    }
  }

  void End(const Activity& activity) {
    const CommandId c = activity.command;
    streams_[commands_[c].stream].busy = false;
    Finish(activity.step, c);
    if (costs_[c].on == On::kCompute) kernels_.Release(costs_[c].device);
    if (commands_[c].kind != Command::Kind::kSend) return;
    deliveries_.Of(activity.step, c).arrived = now();
    WakeStreamOf(deliveries_.MessageOf(c).recv);
  }

  void Finish(int step, CommandId c) {
    StreamState& stream = streams_[commands_[c].stream];
    stream.ready = now();
    stream.last = c;
    if (++stream.next == stream.list.size()) {
      stream.next = 0;
      stream.last = {};
      ++stream.step;
    }
    runnable_.insert(commands_[c].stream);
    const bool ends_serial = serial_.End(commands_[c].stream, step);
    if (log_.End(step, c, now()) || ends_serial) WakeAll();
  }

  const IdSpan<CommandId, Command> commands_;
  const IdVector<CommandId, CommandCost>& costs_;
  const size_t num_devices_;
  StepLog log_;
  SerialStreams serial_;
  IdVector<StreamId, StreamState> streams_;
  KernelQueues kernels_;
  EventBoard events_;
  Deliveries deliveries_;
  CollectiveArrivals arrivals_;
  const StreamWakes wakes_;
  Activities active_;
  std::set<StreamId> runnable_;  // that may have a command to start
};

// Sums of longer times could be infinite, and a clock of infinite or undefined
// seconds never reaches an end. Notes of untrusted plans may ask for them.
constexpr double kMostSeconds = 1e100;

// Alone on its resource.
double SecondsAlone(const CommandCost& cost) {
  if (cost.link == nullptr || cost.bytes == 0) return cost.seconds;
  return cost.seconds + cost.bytes / cost.link->bandwidth;
}

absl::Status CheckSeconds(const Plan& plan, const Entry& entry,
                          IdSpan<CommandId, Command> commands,
                          const IdVector<CommandId, CommandCost>& costs) {
  for (CommandId c : commands.ids()) {
    const double seconds = SecondsAlone(costs[c]);
    if (seconds >= 0 && seconds <= kMostSeconds) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "plan @", plan.name, ": ", CommandPlaces(entry).Text(c), ": found a ",
        CommandKindName(commands[c].kind), " of ", seconds,
        " seconds; expected 0 to ", kMostSeconds,
        "; correct the rates of the machine, or compile the plan again"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Simulation> Simulate(const Plan& plan, int entry_index,
                                    const Machine& machine,
                                    absl::Span<const double> node_seconds) {
  if (entry_index < 0 || entry_index >= static_cast<int>(plan.entries.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan @", plan.name, ": found no entry ", entry_index,
                     "; expected 0 to ", plan.entries.size(), " - 1"));
  }
  const Entry& entry = plan.entries[entry_index];
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
  PARTITA_ASSIGN_OR_RETURN(
      const auto costs,
      CostCommands(plan, entry, commands, machine, node_seconds));
  PARTITA_RETURN_IF_ERROR(CheckSeconds(plan, entry, commands, costs));
  Simulator simulator(plan, entry, commands, costs, HostCores(machine));
  if (!simulator.Run()) {
    const CommandId stuck = simulator.FirstStuck();
    return absl::FailedPreconditionError(absl::StrCat(
        "plan @", plan.name, ": ", CommandPlaces(entry).Text(stuck),
        ": found a ", CommandKindName(commands[stuck].kind),
        " that never ends; expected a plan that the checker accepts"));
  }
  return simulator.Result();
}

}  // namespace partita
