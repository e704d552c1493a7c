// Event-driven simulation of streams and devices.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/simulate.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/status_macros.h"
#include "placement/simulate/activities.h"
#include "placement/simulate/command_cost.h"
#include "placement/simulate/messages.h"
#include "runtime/plan/command_places.h"
#include "runtime/plan/copied_memory.h"

namespace partita {
namespace {

using On = CommandCost::On;

// The time between steps is measured after the pipeline has filled and before
// it drains. Lengths of both phases, in units of the depth.
constexpr int kFillingDepths = 3;
constexpr int kDrainingDepths = 1;

// By stream: whether its steps run one after the other (rule 7).
using SerialStreams = IdVector<StreamId, bool>;

SerialStreams FindSerialStreams(const Plan& plan, const Entry& entry,
                                const CommandList& commands) {
  SerialStreams serial(entry.streams.size(), false);
  if (entry.depth <= 1) return serial;
  const auto is_serial = [&](DeviceId device) {
    const DeviceTraits& traits = plan.devices[device.index].traits;
    return !TraitsOf(traits.kind).overlaps_steps;
  };
  for (const Command& command : commands) {
    const StreamId s = command.stream;
    if (serial[s]) continue;
    serial[s] = is_serial(entry.streams[s.index].device) ||
                absl::c_any_of(CopiedMemory(entry, command), is_serial);
  }
  return serial;
}

class Simulator {
 public:
  Simulator(const Entry& entry, IdSpan<CommandId, Command> commands,
            const IdVector<CommandId, CommandCost>& costs, SerialStreams serial,
            size_t devices)
      : commands_(commands),
        costs_(costs),
        depth_(std::max(1, entry.depth)),
        steps_(depth_ == 1 ? 1 : (kFillingDepths + kDrainingDepths) * depth_),
        streams_(entry.streams.size()),
        serial_(std::move(serial)),
        devices_(devices),
        first_step_(commands.size()),
        recorded_(static_cast<size_t>(steps_) * entry.num_events, -1),
        recorder_(entry.num_events),
        waiters_(entry.num_events),
        num_events_(entry.num_events),
        messages_(MessagesOf(entry, commands)),
        delivery_(static_cast<size_t>(steps_) * messages_.list.size()),
        left_(steps_, static_cast<int>(commands.size())),
        serial_left_(steps_, 0),
        ends_(steps_, 0),
        collective_(commands.size()),
        active_(costs) {
    for (CommandId c : commands.ids()) {
      streams_[commands[c].stream].list.push_back(c);
      if (serial_[commands[c].stream]) ++serial_left_[0];
    }
    absl::c_fill(serial_left_, serial_left_[0]);
    FindCollectives();
  }

  // False on deadlock.
  bool Run() {
    for (StreamId s : streams_.ids()) runnable_.insert(s);
    Progress();
    while (!active_.empty()) {
      for (const Activity& activity : active_.Advance()) End(activity);
      Progress();
    }
    return std::all_of(left_.begin(), left_.end(),
                       [](int left) { return left == 0; });
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
    Simulation result;
    result.commands = std::move(first_step_);
    result.latency_seconds = ends_[0];
    result.step_seconds = ends_[0];
    if (depth_ > 1) {
      const int last = kFillingDepths * depth_ - 1;
      result.step_seconds = (ends_[last] - ends_[last - depth_]) / depth_;
    }
    result.busy.assign(devices_.size(), 0);
    for (const CommandCost& cost : costs_) {
      if (cost.on != On::kCompute) continue;
      result.busy[cost.device.index] += cost.seconds;
    }
    result.critical_path = CriticalPath(result.commands);
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
  struct DeviceState {
    bool busy = false;
    CommandId holder;  // the kernel that runs or ran last
    int holder_step = -1;
    std::set<std::tuple<double, int, CommandId>> queue;  // time, step
  };

  // The times of one message in one step; -1: not yet.
  struct Delivery {
    double awaited = -1;  // recv became ready, before the bytes arrived
    double begun = -1;
    double arrived = -1;
    double received = -1;
  };

  // True if the stream has a command of a step that has begun (rule 7).
  bool MayRun(StreamId s) const {
    const StreamState& stream = streams_[s];
    if (stream.step >= steps_ || stream.list.empty()) return false;
    if (stream.step >= depth_ && left_[stream.step - depth_] > 0) return false;
    return !serial_[s] || stream.step == 0 ||
           serial_left_[stream.step - 1] == 0;
  }

  // The commands of a collective are adjacent in launch order.
  void FindCollectives() {
    CommandId previous;
    for (CommandId c : commands_.ids()) {
      if (costs_[c].on == On::kCollective) {
        const bool goes_on =
            previous.valid() && collective_[previous].valid() &&
            commands_[previous].instance.node == commands_[c].instance.node &&
            commands_[previous].instance.micro_batch ==
                commands_[c].instance.micro_batch;
        collective_[c] = goes_on ? collective_[previous] : collectives_.Add({});
        collectives_[collective_[c]].push_back(c);
      }
      previous = c;
    }
    for (int step = 0; step < steps_; ++step) {
      for (const std::vector<CommandId>& ranks : collectives_) {
        missing_ranks_.push_back(static_cast<int>(ranks.size()));
      }
    }
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
    for (DeviceId device : startable_) StartKernel(devices_[device]);
    startable_.clear();
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
      recorded_[EventIndex(stream.step, command)] = now();
      if (stream.step == 0) recorder_[command.event] = c;
      Note(stream.step, c, now(), stream.last);
      Finish(stream.step, c);
      WakeWaiters(command.event);
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
    const double recorded = recorded_[EventIndex(stream.step, commands_[c])];
    if (recorded < 0) {
      waiters_[commands_[c].event].push_back(s);
      return false;
    }
    const bool waited = recorded > stream.ready;
    const CommandId recorder = recorder_[commands_[c].event];
    Note(stream.step, c, stream.ready, waited ? recorder : stream.last);
    Finish(stream.step, c);
    return true;
  }

  // Rule 6. Starts the message if there is room for it.
  bool TrySend(StreamId s, CommandId c) {
    StreamState& stream = streams_[s];
    const ChannelMessage& message = messages_.list[messages_.of_command[c]];
    Delivery& delivery = DeliveryOf(stream.step, messages_.of_command[c]);
    double room = 0;  // since when
    if (message.rendezvous) room = delivery.awaited;
    if (message.before.valid()) {
      room = DeliveryOf(stream.step, message.before).received;
    }
    if (room < 0) return false;
    CommandId cause = stream.last;
    if (room > stream.ready) {
      cause = message.rendezvous ? StreamOf(message.recv).last
                                 : messages_.list[message.before].recv;
    }
    stream.busy = true;
    delivery.begun = now();
    Carry(stream.step, c, cause);
    return true;
  }

  bool TryRecv(StreamId s, CommandId c) {
    StreamState& stream = streams_[s];
    const ChannelMessage& message = messages_.list[messages_.of_command[c]];
    Delivery& delivery = DeliveryOf(stream.step, messages_.of_command[c]);
    if (delivery.arrived < 0) {
      if (delivery.awaited < 0) {
        delivery.awaited = now();
        WakeStreamOf(message.send);
      }
      return false;
    }
    const bool waited = delivery.arrived > stream.ready;
    Note(stream.step, c, std::max(stream.ready, delivery.begun),
         waited ? message.send : stream.last);
    delivery.received = now();
    Finish(stream.step, c);
    WakeStreamOf(message.send);
    return true;
  }

  Delivery& DeliveryOf(int step, MessageId message) {
    return delivery_[static_cast<size_t>(step) * messages_.list.size() +
                     message.index];
  }

  const StreamState& StreamOf(CommandId c) const {
    return streams_[commands_[c].stream];
  }

  void WakeStreamOf(CommandId c) {
    if (c.valid()) runnable_.insert(commands_[c].stream);
  }

  size_t EventIndex(int step, const Command& command) const {
    return static_cast<size_t>(step) * num_events_ + command.event.index;
  }

  // Streams that wait for the event, in any step: each looks at its own step.
  void WakeWaiters(EventId event) {
    runnable_.insert(waiters_[event].begin(), waiters_[event].end());
    waiters_[event].clear();
  }

  void WakeAll() {
    for (StreamId s : streams_.ids()) {
      if (!streams_[s].busy) runnable_.insert(s);
    }
  }

  void Note(int step, CommandId c, double start, CommandId cause) {
    if (step > 0) return;
    first_step_[c].start = start;
    first_step_[c].cause = cause;
  }

  void Start(int step, CommandId c) {
    const CommandCost& cost = costs_[c];
    if (cost.on == On::kCompute) {
      devices_[cost.device].queue.insert({now(), step, c});
      startable_.insert(cost.device);
      return;
    }
    Carry(step, c, StreamOf(c).last);
  }

  void Carry(int step, CommandId c, CommandId cause) {
    const CommandCost& cost = costs_[c];
    Note(step, c, now(), cause);
    active_.Add({step, c, now() + cost.seconds, cost.bytes});
  }

  // Rule 8. The last rank to arrive starts all of them.
  void Arrive(int step, CommandId c) {
    const std::vector<CommandId>& ranks = collectives_[collective_[c]];
    int& missing =
        missing_ranks_[static_cast<size_t>(step) * collectives_.size() +
                       collective_[c].index];
    if (--missing > 0) return;
    const CommandId cause = StreamOf(c).last;
    for (CommandId rank : ranks) {
      Note(step, rank, now(), cause);
      active_.Add({step, rank, now() + costs_[rank].seconds, 0});
    }
  }

  void StartKernel(DeviceState& device) {
    if (device.busy || device.queue.empty()) return;
    const auto [ready, step, c] = *device.queue.begin();
    device.queue.erase(device.queue.begin());
    device.busy = true;
    const bool held = ready < now() && device.holder_step == step;
    Note(step, c, now(), held ? device.holder : StreamOf(c).last);
    device.holder = c;
    device.holder_step = step;
    active_.Add({step, c, now() + costs_[c].seconds, 0});
  }

  void End(const Activity& activity) {
    const CommandId c = activity.command;
    streams_[commands_[c].stream].busy = false;
    Finish(activity.step, c);
    if (costs_[c].on == On::kCompute) {
      devices_[costs_[c].device].busy = false;
      startable_.insert(costs_[c].device);
    }
    if (commands_[c].kind != Command::Kind::kSend) return;
    const MessageId message = messages_.of_command[c];
    DeliveryOf(activity.step, message).arrived = now();
    WakeStreamOf(messages_.list[message].recv);
  }

  void Finish(int step, CommandId c) {
    StreamState& stream = streams_[commands_[c].stream];
    if (step == 0) first_step_[c].end = now();
    ends_[step] = std::max(ends_[step], now());
    stream.ready = now();
    stream.last = c;
    if (++stream.next == stream.list.size()) {
      stream.next = 0;
      stream.last = {};
      ++stream.step;
    }
    runnable_.insert(commands_[c].stream);
    const bool ends_serial =
        serial_[commands_[c].stream] && --serial_left_[step] == 0;
    if (--left_[step] == 0 || ends_serial) WakeAll();
  }

  // From the last command to end, back along causes.
  static std::vector<CommandId> CriticalPath(
      const IdVector<CommandId, SimulatedCommand>& commands) {
    CommandId last;
    for (CommandId c : commands.ids()) {
      if (!last.valid() || commands[c].end > commands[last].end) last = c;
    }
    std::vector<CommandId> path;
    for (CommandId c = last; c.valid() && path.size() <= commands.size();
         c = commands[c].cause) {
      path.push_back(c);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  const IdSpan<CommandId, Command> commands_;
  const IdVector<CommandId, CommandCost>& costs_;
  const int depth_;
  const int steps_;
  IdVector<StreamId, StreamState> streams_;
  const SerialStreams serial_;
  IdVector<DeviceId, DeviceState> devices_;
  IdVector<CommandId, SimulatedCommand> first_step_;
  std::vector<double> recorded_;  // step * events + event; -1: not yet
  IdVector<EventId, CommandId> recorder_;
  // Streams that found the event not recorded; some more than once.
  IdVector<EventId, std::vector<StreamId>> waiters_;
  const int num_events_;
  const ChannelMessages messages_;
  std::vector<Delivery> delivery_;  // step * messages + message
  std::vector<int> left_;           // by step: commands that have not ended
  std::vector<int> serial_left_;    // the same, of serial streams
  std::vector<double> ends_;        // by step
  IdVector<CommandId, CollectiveId> collective_;  // invalid: of none
  IdVector<CollectiveId, std::vector<CommandId>> collectives_;
  std::vector<int> missing_ranks_;  // step * collectives + collective
  Activities active_;
  std::set<StreamId> runnable_;   // that may have a command to start
  std::set<DeviceId> startable_;  // that may have a kernel to start
};

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
  Simulator simulator(entry, commands, costs,
                      FindSerialStreams(plan, entry, commands),
                      plan.devices.size());
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
