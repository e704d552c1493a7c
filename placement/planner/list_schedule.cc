// List scheduling within memory.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/list_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "absl/algorithm/container.h"
#include "placement/planner/bytes_in_flight.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The outcome of running a node on a device.
struct Option {
  MachineDeviceId device;
  double finish = kNever;
  bool waits = false;   // waits longer for its operands than for the device
  int64_t missing = 0;  // bytes beyond the limit
};

class Scheduler {
 public:
  Scheduler(const PlanRequest& request, const Flow& flow,
            const ListOptions& options)
      : request_(request),
        costs_(request.costs),
        flow_(flow),
        bytes_(request, flow),
        options_(options),
        schedule_{Draft(request.graph())},
        devices_(costs_.num_devices()),
        free_at_(devices_, 0),
        used_(devices_, 0),
        present_(flow.values.size(),
                 IdVector<MachineDeviceId, char>(devices_, 0)),
        made_at_(flow.values.size(), 0),
        home_(flow.values.size()),
        unread_(flow.values.size()) {
    for (ValueId value : flow.values.ids()) {
      unread_[value] = static_cast<int>(flow.values[value].readers.size());
    }
  }

  ListSchedule Run() {
    PutPinned(request_, schedule_.draft);
    QueueReady();
    while (!ready_.empty()) {
      const int item = ready_.top().second * -1;
      ready_.pop();
      Place(item);
      Release(item);
    }
    PutFollowers(request_, schedule_.draft);
    return std::move(schedule_);
  }

 private:
  const FlowItem& item(int i) const { return flow_.items[i]; }
  char& present(ValueId value, MachineDeviceId device) {
    return present_[value][device];
  }

  void QueueReady() {
    waiting_.assign(flow_.items.size(), 0);
    for (size_t i = 0; i < flow_.items.size(); ++i) {
      for (ValueId source : flow_.items[i].sources) {
        waiting_[i] += flow_.values[source].maker >= 0;
      }
      if (waiting_[i] == 0) Queue(static_cast<int>(i));
    }
  }

  void Queue(int i) { ready_.push({options_.priority[i], -i}); }

  // The time at which the value can be on the device; infinite without a link.
  double Arrival(ValueId value, MachineDeviceId device) {
    if (flow_.values[value].maker < 0) return Feed(value, device);
    const MachineDeviceId home = home_[value];
    if (home == device) return made_at_[value];
    return made_at_[value] +
           costs_.TransferSeconds(home, device, costs_.bytes(value));
  }

  // Inputs of CPUs are in their memory.
  double Feed(ValueId input, MachineDeviceId device) {
    if (!costs_.has_ports(device)) return kNever;
    const Link* link = costs_.port_link(device);
    if (link == nullptr) return 0;
    return link->latency +
           static_cast<double>(costs_.bytes(input)) / link->bandwidth;
  }

  // Bytes that the node adds on the device while it runs.
  int64_t Needs(int i, MachineDeviceId device) {
    int64_t bytes = bytes_.WorkspaceOf(item(i).node, device);
    for (const auto* read : {&item(i).stored, &item(i).sources}) {
      for (ValueId value : *read) {
        if (!present(value, device)) bytes += bytes_.Of(value);
      }
    }
    for (ValueId result : request_.graph().node(item(i).node).results) {
      bytes += bytes_.Of(result);
    }
    return bytes;
  }

  // True unless the node makes an output that cannot be fetched from there.
  bool CanFetch(int i, MachineDeviceId device) {
    return costs_.has_ports(device) ||
           !request_.options.output_device.empty() || !item(i).makes_output;
  }

  // A pinned node may be sharded over the devices of its pin.
  double Seconds(int i, MachineDeviceId device) {
    const NodeId node = item(i).node;
    if (request_.pin(node) == nullptr) return costs_.cost(node, device).seconds;
    return SecondsOf(costs_, node, schedule_.draft.assignment[node]);
  }

  Option Try(int i, MachineDeviceId device) {
    Option option;
    option.device = device;
    double start = free_at_[device];
    for (ValueId source : item(i).sources) {
      start = std::max(start, Arrival(source, device));
    }
    option.waits = start > free_at_[device];
    option.finish = CanFetch(i, device) ? start + Seconds(i, device) : kNever;
    option.missing = std::max<int64_t>(
        0, used_[device] + Needs(i, device) - options_.limits[device]);
    return option;
  }

  // The devices for the node: those of `options_` that can run it; if there are
  // none, any device that can.
  std::vector<MachineDeviceId> Able(int i) {
    std::vector<MachineDeviceId> able;
    for (MachineDeviceId d : options_.devices) {
      if (costs_.cost(item(i).node, d).can_run) able.push_back(d);
    }
    if (!able.empty()) return able;
    for (MachineDeviceId d : costs_.devices()) {
      if (costs_.cost(item(i).node, d).can_run) able.push_back(d);
    }
    return able;
  }

  void Place(int i) {
    const NodeId node = item(i).node;
    if (request_.pin(node) == nullptr) Choose(i);
    const NodeDevices& place = schedule_.draft.assignment[node];
    double finish = 0;
    for (MachineDeviceId device : place.devices) {
      finish = std::max(finish, Try(i, device).finish);
    }
    for (MachineDeviceId device : place.devices) Occupy(i, device, finish);
    for (ValueId result : request_.graph().node(node).results) {
      made_at_[result] = finish;
      home_[result] = place.devices[0];
    }
    schedule_.makespan = std::max(schedule_.makespan, finish);
  }

  // Earliest finish among the devices with room.
  void Choose(int i) {
    std::vector<Option> options;
    for (MachineDeviceId device : Able(i)) options.push_back(Try(i, device));
    const auto sooner = [](const Option& a, const Option& b) {
      return a.finish < b.finish;
    };
    absl::c_stable_sort(options, sooner);
    auto best = absl::c_find_if(options,
                                [](const Option& o) { return o.missing == 0; });
    if (best == options.end()) {
      best = std::min_element(options.begin(), options.end(),
                              [](const Option& a, const Option& b) {
                                return a.missing < b.missing;
                              });
    }
    Put(schedule_.draft, item(i).node, best->device,
        Why(i, options, best - options.begin()));
  }

  PlacedNode Why(int i, const std::vector<Option>& options, size_t chosen) {
    PlacedNode why;
    why.reason = Reason::kCheaperBy;
    if (devices_ == 1) why.reason = Reason::kOnlyDevice;
    if (devices_ > 1 && options.size() == 1) {
      why.reason = options_.devices.size() == 1 ? Reason::kOnlyDevice
                                                : Reason::kOnlyKernel;
    }
    if (chosen > 0) why.reason = Reason::kMemoryFull;
    if (why.reason != Reason::kCheaperBy) return why;
    why.seconds = options[1].finish - options[0].finish;
    // There may be no link to one of them, or no port.
    if (!std::isfinite(why.seconds)) why.seconds = 0;
    // The next device is as fast and as free, but must wait for an operand.
    const NodeCost& here = costs_.cost(item(i).node, options[0].device);
    const NodeCost& next = costs_.cost(item(i).node, options[1].device);
    if (here.seconds < next.seconds || !options[1].waits) return why;
    why.value = LargestFrom(i, options[0].device);
    if (why.value.valid()) why.reason = Reason::kFollows;
    return why;
  }

  // The largest operand that this device makes.
  ValueId LargestFrom(int i, MachineDeviceId device) {
    ValueId largest;
    for (ValueId source : item(i).sources) {
      if (flow_.values[source].maker < 0) continue;
      if (home_[source] != device) continue;
      if (!largest.valid() || costs_.bytes(source) > costs_.bytes(largest)) {
        largest = source;
      }
    }
    return largest;
  }

  void Occupy(int i, MachineDeviceId device, double finish) {
    free_at_[device] = finish;
    const auto hold = [&](ValueId value) {
      if (present(value, device)) return;
      present(value, device) = 1;
      used_[device] += bytes_.Of(value);
    };
    for (ValueId value : item(i).stored) hold(value);
    for (ValueId value : item(i).sources) hold(value);
    for (ValueId value : request_.graph().node(item(i).node).results) {
      hold(value);
    }
  }

  // Frees operands after their last reader, and queues readers that become
  // ready.
  void Release(int i) {
    for (ValueId source : item(i).sources) {
      if (--unread_[source] == 0) Free(source);
    }
    for (ValueId result : request_.graph().node(item(i).node).results) {
      if (unread_[result] == 0) Free(result);
      for (int reader : flow_.values[result].readers) {
        if (--waiting_[reader] == 0) Queue(reader);
      }
    }
  }

  void Free(ValueId value) {
    const FlowValue& freed = flow_.values[value];
    if (freed.is_output || freed.is_update) return;
    for (MachineDeviceId d : costs_.devices()) {
      if (!present(value, d)) continue;
      present(value, d) = 0;
      used_[d] -= bytes_.Of(value);
    }
  }

  const PlanRequest& request_;
  const CostModel& costs_;
  const Flow& flow_;
  const BytesInFlight bytes_;
  const ListOptions& options_;
  ListSchedule schedule_;
  const int devices_;
  IdVector<MachineDeviceId, double> free_at_;
  IdVector<MachineDeviceId, int64_t> used_;  // bytes
  IdVector<ValueId, IdVector<MachineDeviceId, char>> present_;
  IdVector<ValueId, double> made_at_;        // seconds
  IdVector<ValueId, MachineDeviceId> home_;  // the device that makes it
  IdVector<ValueId, int> unread_;            // readers not yet placed
  std::vector<int> waiting_;                 // by item: makers not yet placed
  std::priority_queue<std::pair<double, int>> ready_;  // priority, -item
};

}  // namespace

ListSchedule ScheduleList(const PlanRequest& request, const Flow& flow,
                          const ListOptions& options) {
  return Scheduler(request, flow, options).Run();
}

std::vector<double> UpwardRanks(const PlanRequest& request, const Flow& flow) {
  const CostModel& costs = request.costs;
  double latency = 0, seconds_per_byte = 0;
  for (const Link& link : costs.machine().links) {
    latency += link.latency / costs.machine().links.size();
    seconds_per_byte += 1 / link.bandwidth / costs.machine().links.size();
  }
  std::vector<double> ranks(flow.items.size(), 0);
  for (int i = static_cast<int>(flow.items.size()) - 1; i >= 0; --i) {
    const NodeId node = flow.items[i].node;
    double sum = 0, after = 0;
    int able = 0;
    for (MachineDeviceId d : costs.devices()) {
      if (!costs.cost(node, d).can_run) continue;
      sum += costs.cost(node, d).seconds;
      ++able;
    }
    for (ValueId result : costs.graph().node(node).results) {
      const double transfer = latency + costs.bytes(result) * seconds_per_byte;
      for (int reader : flow.values[result].readers) {
        after = std::max(after, transfer + ranks[reader]);
      }
    }
    ranks[i] = sum / std::max(1, able) + after;
  }
  return ranks;
}

}  // namespace partita
