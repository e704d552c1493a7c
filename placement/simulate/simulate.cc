// Event-driven simulation of streams, devices and links.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/simulate.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/simulate/command_cost.h"
#include "placement/simulate/messages.h"
#include "runtime/plan/command_places.h"

namespace partita {
namespace {

using On = CommandCost::On;
constexpr double kNever = std::numeric_limits<double>::infinity();

// The time between steps is measured after the pipeline has filled and before
// it drains. Lengths of both phases, in units of the depth.
constexpr int kFillingDepths = 3;
constexpr int kDrainingDepths = 1;

// A command that takes time, in one step.
struct Activity {
  int step = 0;
  int command = 0;
  double fixed_end = 0;  // end; of a transfer, of its latency
  bool flowing = false;  // a transfer after its latency
  double bytes_left = 0;
};

class Simulator {
 public:
  Simulator(const Entry& entry, const std::vector<Command>& commands,
            const std::vector<CommandCost>& costs, int devices)
      : commands_(commands),
        costs_(costs),
        depth_(std::max(1, entry.depth)),
        steps_(depth_ == 1 ? 1 : (kFillingDepths + kDrainingDepths) * depth_),
        streams_(entry.streams.size()),
        devices_(devices),
        first_step_(commands.size()),
        recorded_(static_cast<size_t>(steps_) * entry.num_events, -1),
        recorder_(entry.num_events, -1),
        num_events_(entry.num_events),
        messages_(MessagesOf(entry, commands)),
        delivery_(static_cast<size_t>(steps_) * messages_.list.size()),
        left_(steps_, static_cast<int>(commands.size())),
        ends_(steps_, 0) {
    for (size_t i = 0; i < commands.size(); ++i) {
      streams_[commands[i].stream.index].list.push_back(static_cast<int>(i));
    }
    FindCollectives();
  }

  // False on deadlock.
  bool Run() {
    for (size_t s = 0; s < streams_.size(); ++s) {
      runnable_.insert(static_cast<int>(s));
    }
    Progress();
    while (!active_.empty()) {
      Advance(NextTime());
      Progress();
    }
    return std::all_of(left_.begin(), left_.end(),
                       [](int left) { return left == 0; });
  }

  // The first command that cannot run, for an error. (Skips streams that wait
  // for the end of an earlier step: another stream holds them up.)
  int FirstStuck() const {
    int first = static_cast<int>(commands_.size());
    for (const StreamState& stream : streams_) {
      if (stream.step >= steps_ || stream.list.empty()) continue;
      if (stream.step >= depth_ && left_[stream.step - depth_] > 0) continue;
      first = std::min(first, stream.list[stream.next]);
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
      if (cost.on == On::kCompute) result.busy[cost.device] += cost.seconds;
    }
    result.critical_path = CriticalPath(result.commands);
    return result;
  }

 private:
  struct StreamState {
    std::vector<int> list;  // commands, in order
    int step = 0;
    size_t next = 0;    // index into list
    bool busy = false;  // its command runs or is queued
    double ready = 0;   // when its previous command ended
    int last = -1;      // that command; -1: first of the step
  };
  struct DeviceState {
    bool busy = false;
    int holder = -1;  // the kernel that runs or ran last
    int holder_step = -1;
    std::set<std::tuple<double, int, int>> queue;  // time, step, command
  };

  // The times of one message in one step; -1: not yet.
  struct Delivery {
    double awaited = -1;  // recv became ready, before the bytes arrived
    double begun = -1;
    double arrived = -1;
    double received = -1;
  };

  // The commands of a collective are adjacent in launch order.
  void FindCollectives() {
    for (size_t i = 0; i < commands_.size(); ++i) {
      collective_.push_back(-1);
      if (costs_[i].on != On::kCollective) continue;
      const Command& command = commands_[i];
      const bool goes_on =
          i > 0 && collective_[i - 1] >= 0 &&
          commands_[i - 1].instance.node == command.instance.node &&
          commands_[i - 1].instance.micro_batch == command.instance.micro_batch;
      if (!goes_on) collectives_.emplace_back();
      collective_[i] = static_cast<int>(collectives_.size()) - 1;
      collectives_.back().push_back(static_cast<int>(i));
    }
    for (int step = 0; step < steps_; ++step) {
      for (const std::vector<int>& ranks : collectives_) {
        missing_ranks_.push_back(static_cast<int>(ranks.size()));
      }
    }
  }

  // Starts all commands that can start now.
  void Progress() {
    while (!runnable_.empty()) {
      const int s = *runnable_.begin();
      runnable_.erase(runnable_.begin());
      while (TryNext(s)) {
      }
    }
    // Kernels start last, so that launch order decides between kernels that
    // become ready at the same time.
    for (DeviceState& device : devices_) StartKernel(device);
  }

  bool TryNext(int s) {
    StreamState& stream = streams_[s];
    if (stream.busy || stream.step >= steps_ || stream.list.empty()) {
      return false;
    }
    if (stream.step >= depth_ && left_[stream.step - depth_] > 0) return false;
    const int c = stream.list[stream.next];
    const Command& command = commands_[c];
    if (command.kind == Command::Kind::kWait) return TryWait(s, c);
    if (command.kind == Command::Kind::kSend) return TrySend(s, c);
    if (command.kind == Command::Kind::kRecv) return TryRecv(s, c);
    if (command.kind == Command::Kind::kRecord) {
      recorded_[EventIndex(stream.step, command)] = now_;
      if (stream.step == 0) recorder_[command.event.index] = c;
      Note(stream.step, c, now_, stream.last);
      Finish(stream.step, c);
      WakeAll();
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

  bool TryWait(int s, int c) {
    StreamState& stream = streams_[s];
    const double recorded = recorded_[EventIndex(stream.step, commands_[c])];
    if (recorded < 0) return false;
    const bool waited = recorded > stream.ready;
    const int recorder = recorder_[commands_[c].event.index];
    Note(stream.step, c, stream.ready, waited ? recorder : stream.last);
    Finish(stream.step, c);
    return true;
  }

  // Rule 6. Starts the message if there is room for it.
  bool TrySend(int s, int c) {
    StreamState& stream = streams_[s];
    const ChannelMessage& message = messages_.list[messages_.of_command[c]];
    Delivery& delivery = DeliveryOf(stream.step, messages_.of_command[c]);
    double room = 0;  // since when
    if (message.rendezvous) room = delivery.awaited;
    if (message.before >= 0) {
      room = DeliveryOf(stream.step, message.before).received;
    }
    if (room < 0) return false;
    int cause = stream.last;
    if (room > stream.ready) {
      cause = message.rendezvous ? StreamOf(message.recv).last
                                 : messages_.list[message.before].recv;
    }
    stream.busy = true;
    delivery.begun = now_;
    Carry(stream.step, c, cause);
    return true;
  }

  bool TryRecv(int s, int c) {
    StreamState& stream = streams_[s];
    const ChannelMessage& message = messages_.list[messages_.of_command[c]];
    Delivery& delivery = DeliveryOf(stream.step, messages_.of_command[c]);
    if (delivery.arrived < 0) {
      if (delivery.awaited < 0) {
        delivery.awaited = now_;
        WakeStreamOf(message.send);
      }
      return false;
    }
    const bool waited = delivery.arrived > stream.ready;
    Note(stream.step, c, std::max(stream.ready, delivery.begun),
         waited ? message.send : stream.last);
    delivery.received = now_;
    Finish(stream.step, c);
    WakeStreamOf(message.send);
    return true;
  }

  Delivery& DeliveryOf(int step, int message) {
    return delivery_[static_cast<size_t>(step) * messages_.list.size() +
                     message];
  }

  const StreamState& StreamOf(int c) const {
    return streams_[commands_[c].stream.index];
  }

  void WakeStreamOf(int c) {
    if (c >= 0) runnable_.insert(commands_[c].stream.index);
  }

  size_t EventIndex(int step, const Command& command) const {
    return static_cast<size_t>(step) * num_events_ + command.event.index;
  }

  void WakeAll() {
    for (size_t s = 0; s < streams_.size(); ++s) {
      if (!streams_[s].busy) runnable_.insert(static_cast<int>(s));
    }
  }

  void Note(int step, int c, double start, int cause) {
    if (step > 0) return;
    first_step_[c].start = start;
    first_step_[c].cause = cause;
  }

  void Start(int step, int c) {
    const CommandCost& cost = costs_[c];
    if (cost.on == On::kCompute) {
      devices_[cost.device].queue.insert({now_, step, c});
      return;
    }
    Carry(step, c, StreamOf(c).last);
  }

  void Carry(int step, int c, int cause) {
    const CommandCost& cost = costs_[c];
    Note(step, c, now_, cause);
    active_.push_back({step, c, now_ + cost.seconds, false, cost.bytes});
  }

  // Rule 8. The last rank to arrive starts all of them.
  void Arrive(int step, int c) {
    const std::vector<int>& ranks = collectives_[collective_[c]];
    int& missing =
        missing_ranks_[static_cast<size_t>(step) * collectives_.size() +
                       collective_[c]];
    if (--missing > 0) return;
    const int cause = StreamOf(c).last;
    for (int rank : ranks) {
      Note(step, rank, now_, cause);
      active_.push_back({step, rank, now_ + costs_[rank].seconds, false, 0});
    }
  }

  void StartKernel(DeviceState& device) {
    if (device.busy || device.queue.empty()) return;
    const auto [ready, step, c] = *device.queue.begin();
    device.queue.erase(device.queue.begin());
    device.busy = true;
    const bool held = ready < now_ && device.holder_step == step;
    Note(step, c, now_, held ? device.holder : StreamOf(c).last);
    device.holder = c;
    device.holder_step = step;
    active_.push_back({step, c, now_ + costs_[c].seconds, false, 0});
  }

  // Rule 4. True for transfers that share bandwidth: over the same link or bus,
  // in the same direction unless one link is not duplex.
  bool Share(const Activity& a, const Activity& b) const {
    const CommandCost& x = costs_[a.command];
    const CommandCost& y = costs_[b.command];
    const bool together = x.link == y.link ||
                          (!x.link->bus.empty() && x.link->bus == y.link->bus);
    const bool duplex = x.link->duplex && y.link->duplex;
    return together && (!duplex || x.forward == y.forward);
  }

  double Rate(const Activity& transfer) const {
    int sharers = 0;
    for (const Activity& other : active_) {
      sharers += other.flowing && Share(transfer, other);
    }
    return costs_[transfer.command].link->bandwidth / sharers;
  }

  double EndOf(const Activity& activity) const {
    if (!activity.flowing) return activity.fixed_end;
    return now_ + activity.bytes_left / Rate(activity);
  }

  double NextTime() const {
    double next = kNever;
    for (const Activity& activity : active_) {
      next = std::min(next, EndOf(activity));
    }
    return next;
  }

  void Advance(double time) {
    std::vector<double> ends;
    for (const Activity& activity : active_) ends.push_back(EndOf(activity));
    for (size_t i = 0; i < active_.size(); ++i) {
      if (!active_[i].flowing || ends[i] <= time) continue;
      // Leaves the fraction that does not flow before `time`.
      active_[i].bytes_left *= (ends[i] - time) / (ends[i] - now_);
    }
    now_ = time;
    std::vector<Activity> going, ended;
    for (size_t i = 0; i < active_.size(); ++i) {
      Activity& activity = active_[i];
      const bool transfer = costs_[activity.command].on == On::kLink;
      if (ends[i] > time) {
        going.push_back(activity);
      } else if (transfer && !activity.flowing && activity.bytes_left > 0) {
        activity.flowing = true;
        going.push_back(activity);
      } else {
        ended.push_back(activity);
      }
    }
    active_ = std::move(going);
    for (const Activity& activity : ended) End(activity);
  }

  void End(const Activity& activity) {
    const int c = activity.command;
    streams_[commands_[c].stream.index].busy = false;
    Finish(activity.step, c);
    if (costs_[c].on == On::kCompute) devices_[costs_[c].device].busy = false;
    if (commands_[c].kind != Command::Kind::kSend) return;
    const int message = messages_.of_command[c];
    DeliveryOf(activity.step, message).arrived = now_;
    WakeStreamOf(messages_.list[message].recv);
  }

  void Finish(int step, int c) {
    StreamState& stream = streams_[commands_[c].stream.index];
    if (step == 0) first_step_[c].end = now_;
    ends_[step] = std::max(ends_[step], now_);
    stream.ready = now_;
    stream.last = c;
    if (++stream.next == stream.list.size()) {
      stream.next = 0;
      stream.last = -1;
      ++stream.step;
    }
    runnable_.insert(commands_[c].stream.index);
    if (--left_[step] == 0) WakeAll();
  }

  // From the last command to end, back along causes.
  static std::vector<int> CriticalPath(
      const std::vector<SimulatedCommand>& commands) {
    int last = -1;
    for (size_t i = 0; i < commands.size(); ++i) {
      if (last < 0 || commands[i].end > commands[last].end) {
        last = static_cast<int>(i);
      }
    }
    std::vector<int> path;
    for (int c = last; c >= 0 && path.size() <= commands.size();
         c = commands[c].cause) {
      path.push_back(c);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  const std::vector<Command>& commands_;
  const std::vector<CommandCost>& costs_;
  const int depth_;
  const int steps_;
  double now_ = 0;
  std::vector<StreamState> streams_;
  std::vector<DeviceState> devices_;
  std::vector<SimulatedCommand> first_step_;
  std::vector<double> recorded_;  // step * events + event; -1: not yet
  std::vector<int> recorder_;     // by event: the command that recorded it
  const int num_events_;
  const ChannelMessages messages_;
  std::vector<Delivery> delivery_;  // step * messages + message
  std::vector<int> left_;           // by step: commands that have not ended
  std::vector<double> ends_;        // by step
  std::vector<int> collective_;  // by command: index into collectives_, or -1
  std::vector<std::vector<int>> collectives_;  // the commands of each
  std::vector<int> missing_ranks_;  // step * collectives + collective
  std::vector<Activity> active_;
  std::set<int> runnable_;  // streams that may have a command to start
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
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Command> commands, Expand(entry));
  PARTITA_ASSIGN_OR_RETURN(
      const std::vector<CommandCost> costs,
      CostCommands(plan, entry, commands, machine, node_seconds));
  Simulator simulator(entry, commands, costs,
                      static_cast<int>(plan.devices.size()));
  if (!simulator.Run()) {
    const int stuck = simulator.FirstStuck();
    return absl::FailedPreconditionError(absl::StrCat(
        "plan @", plan.name, ": ", CommandPlaces(entry).Text(stuck),
        ": found a ", CommandKindName(commands[stuck].kind),
        " that never ends; expected a plan that the checker accepts"));
  }
  return simulator.Result();
}

}  // namespace partita
