// List scheduling of a draft over devices, copy streams and links.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/draft_timer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "placement/planner/list_schedule.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// A number for each link and direction whose transfers share bandwidth: links
// of one bus have the same, and so have both directions of a link that is not
// duplex.
class FlowResources {
 public:
  int Of(const Link& link, bool forward) {
    const std::string name =
        link.bus.empty() ? link.from + ">" + link.to : "bus " + link.bus;
    const std::pair key(name, link.duplex && forward);
    return numbers_.try_emplace(key, static_cast<int>(numbers_.size()))
        .first->second;
  }
  int size() const { return static_cast<int>(numbers_.size()); }

 private:
  std::map<std::pair<std::string, bool>, int> numbers_;
};

}  // namespace

DraftTimer::DraftTimer(const PlanRequest& request, const Flow& flow)
    : request_(request),
      costs_(request.costs),
      flow_(flow),
      devices_(costs_.num_devices()),
      ranks_(UpwardRanks(request, flow)) {
  PriceItems();
  FindUpdateReaders();
  FlowResources resources;
  flow_resource_.assign(devices_ * devices_, 0);
  for (MachineDeviceId from : costs_.devices()) {
    for (MachineDeviceId to : costs_.devices()) {
      const Link* link = costs_.link(from, to);
      if (link == nullptr) continue;
      flow_resource_[Between(from, to)] =
          resources.Of(*link, link->from == costs_.device_name(from));
    }
  }
  num_flow_resources_ = resources.size();
}

void DraftTimer::PriceItems() {
  Draft pins(request_.graph());
  PutPinned(request_, pins);
  for (const FlowItem& item : flow_.items) {
    const NodeDevices& pinned = pins.assignment[item.node];
    for (MachineDeviceId d : costs_.devices()) {
      const NodeCost& cost = costs_.cost(item.node, d);
      seconds_.push_back(!pinned.devices.empty()
                             ? SecondsOf(costs_, item.node, pinned)
                         : cost.can_run ? cost.seconds
                                        : kNever);
    }
  }
  // As CommandCost: a feed of a device that shares the host is a local copy.
  for (MachineDeviceId d : costs_.devices()) {
    const DeviceTraits& traits = costs_.machine().devices[d.index].traits;
    const bool is_local = costs_.shares_host(d) || !costs_.host().valid();
    const Link* link = is_local ? nullptr : costs_.link(costs_.host(), d);
    if (link != nullptr) {
      port_fixed_.push_back(link->latency);
      port_per_byte_.push_back(1 / link->bandwidth);
    } else {
      const double bandwidth = traits.memory_bandwidth;
      port_fixed_.push_back(traits.launch_seconds);
      port_per_byte_.push_back(bandwidth > 0 ? 2 / bandwidth : 0);
    }
  }
}

void DraftTimer::FindUpdateReaders() {
  const Graph& graph = request_.graph();
  absl::flat_hash_map<std::string, int> readers;
  for (const OpView& variable : graph.ops(kVariable)) {
    const std::vector<int>& items =
        flow_.values[variable.result(0).id()].readers;
    if (items.empty()) continue;
    readers.try_emplace(variable.attr_string("name"), items.front());
  }
  update_reader_.assign(flow_.values.size(), -1);
  for (const VariableUpdate& update : graph.updates()) {
    const auto reader = readers.find(update.variable);
    if (reader == readers.end()) continue;
    update_reader_[costs_.root(update.value).index] = reader->second;
  }
}

DraftScore DraftTimer::Score(const WholeDraft& draft) {
  Reset(draft);
  for (size_t i = 0; i < flow_.items.size(); ++i) {
    if (waiting_[i] == 0) PushReady(draft, static_cast<int>(i));
  }
  while (!ready_.empty()) {
    const auto [start, rank, item, device] = ready_.top();
    ready_.pop();
    // The device may have become busy since the unit was queued.
    const double now = StartOf(item, device);
    if (now > start && !ready_.empty() && now > std::get<0>(ready_.top())) {
      ready_.push({now, rank, item, device});
      continue;
    }
    Run(draft, {item, device});
  }
  FetchOutputs(draft);
  return Result();
}

void DraftTimer::Reset(const WholeDraft& draft) {
  const size_t places = flow_.values.size() * devices_;
  ready_at_.assign(places, kNever);
  is_held_.assign(places, 0);
  free_at_.assign(devices_, 0);
  busy_.assign(devices_, 0);
  copied_at_.assign(devices_ * devices_, 0);
  flowed_at_.assign(num_flow_resources_, 0);
  held_.assign(devices_, 0);
  most_held_.assign(devices_, 0);
  waiting_.assign(flow_.items.size(), 0);
  units_left_.resize(flow_.items.size());
  unread_.resize(flow_.values.size());
  end_ = 0;
  for (size_t i = 0; i < flow_.items.size(); ++i) {
    units_left_[i] = static_cast<int>(draft[i].size());
    for (ValueId source : flow_.items[i].sources) {
      waiting_[i] += flow_.values[source].maker >= 0 ? 1 : 0;
    }
  }
  for (ValueId v : flow_.values.ids()) {
    unread_[v.index] = static_cast<int>(flow_.values[v].readers.size());
  }
}

double DraftTimer::StartOf(int item, MachineDeviceId device) const {
  double start = free_at_[device.index];
  for (ValueId source : flow_.items[item].sources) {
    if (flow_.values[source].maker < 0) continue;  // fed by the unit
    start = std::max(start, ready_at_[At(source, device)]);
  }
  return start;
}

void DraftTimer::PushReady(const WholeDraft& draft, int item) {
  for (MachineDeviceId device : draft[item]) {
    ready_.push({StartOf(item, device), -ranks_[item], item, device});
  }
}

double DraftTimer::SecondsOfPort(ValueId value, MachineDeviceId device) const {
  return port_fixed_[device.index] +
         costs_.bytes(value) * port_per_byte_[device.index];
}

// Seconds to feed the inputs that the device does not hold yet.
double DraftTimer::Feeds(int item, MachineDeviceId device) {
  double seconds = 0;
  for (ValueId source : flow_.items[item].sources) {
    double& ready_at = ready_at_[At(source, device)];
    if (flow_.values[source].maker >= 0 || ready_at < kNever) continue;
    ready_at = 0;
    seconds += SecondsOfPort(source, device);
  }
  return seconds;
}

void DraftTimer::Hold(ValueId value, MachineDeviceId device, int64_t bytes) {
  char& is_held = is_held_[At(value, device)];
  if (is_held != 0) return;
  is_held = 1;
  held_[device.index] += bytes;
}

void DraftTimer::Run(const WholeDraft& draft, Unit unit) {
  const auto& [item, device] = unit;
  const FlowItem& flow_item = flow_.items[item];
  const double start = StartOf(item, device);
  const double taken = Feeds(item, device) + seconds(item, device);
  free_at_[device.index] = start + taken;
  busy_[device.index] += taken;
  const int64_t depth = request_.objective.depth;
  for (ValueId value : flow_item.stored)
    Hold(value, device, costs_.bytes(value));
  for (ValueId value : flow_item.sources) {
    Hold(value, device, depth * costs_.bytes(value));
  }
  for (ValueId result : request_.graph().node(flow_item.node).results) {
    const bool once = flow_.values[result].is_update;
    Hold(result, device, (once ? 1 : depth) * costs_.bytes(result));
    ready_at_[At(result, device)] = free_at_[device.index];
  }
  int64_t& most = most_held_[device.index];
  most =
      std::max(most, held_[device.index] +
                         depth * costs_.cost(flow_item.node, device).workspace);
  end_ = std::max(end_, free_at_[device.index]);
  if (--units_left_[item] > 0) return;
  CopyResults(draft, item);
  Release(draft, item);
}

void DraftTimer::CopyResults(const WholeDraft& draft, int item) {
  for (ValueId result : request_.graph().node(flow_.items[item].node).results) {
    for (int reader : flow_.values[result].readers) {
      for (MachineDeviceId to : draft[reader]) Copy(result, draft[item], to);
    }
    const int updated = update_reader_[result.index];
    if (updated < 0) continue;
    for (MachineDeviceId to : draft[updated]) Copy(result, draft[item], to);
  }
}

void DraftTimer::Copy(ValueId value, const ItemDevices& from,
                      MachineDeviceId to) {
  double& ready_at = ready_at_[At(value, to)];
  if (ready_at < kNever) return;  // made there, or copied before
  MachineDeviceId source;
  for (MachineDeviceId device : from) {
    if (costs_.link(device, to) == nullptr) continue;
    if (!source.valid() ||
        ready_at_[At(value, device)] < ready_at_[At(value, source)]) {
      source = device;
    }
  }
  if (!source.valid()) {
    end_ = kNever;
    return;
  }
  const Link& link = *costs_.link(source, to);
  double& copied_at = copied_at_[Between(source, to)];
  double& flowed_at = flowed_at_[flow_resource_[Between(source, to)]];
  const double start = std::max(copied_at, ready_at_[At(value, source)]);
  const double flows = std::max(start + link.latency, flowed_at);
  ready_at = flows + costs_.bytes(value) / link.bandwidth;
  copied_at = ready_at;
  flowed_at = ready_at;
  end_ = std::max(end_, ready_at);
}

// Frees operands after their last reader, and queues readers that can run.
void DraftTimer::Release(const WholeDraft& draft, int item) {
  for (ValueId source : flow_.items[item].sources) {
    if (--unread_[source.index] == 0) Free(source);
  }
  for (ValueId result : request_.graph().node(flow_.items[item].node).results) {
    if (unread_[result.index] == 0) Free(result);
    for (int reader : flow_.values[result].readers) {
      if (--waiting_[reader] == 0) PushReady(draft, reader);
    }
  }
}

void DraftTimer::Free(ValueId value) {
  const FlowValue& freed = flow_.values[value];
  if (freed.is_output || freed.is_update) return;
  for (MachineDeviceId d : costs_.devices()) {
    char& is_held = is_held_[At(value, d)];
    if (is_held == 0) continue;
    is_held = 0;
    held_[d.index] -= request_.objective.depth * costs_.bytes(value);
  }
}

// An input that is an output too is fetched where it is read first in the
// machine's order, or fed to the first device only to be fetched.
MachineDeviceId DraftTimer::HomeOfInput(const WholeDraft& draft,
                                        ValueId input) const {
  MachineDeviceId home;
  for (int reader : flow_.values[input].readers) {
    const MachineDeviceId device = draft[reader].front();
    if (!home.valid() || device < home) home = device;
  }
  return home.valid() ? home : MachineDeviceId(0);
}

void DraftTimer::FetchOutputs(const WholeDraft& draft) {
  for (ValueId output : flow_.values.ids()) {
    const FlowValue& value = flow_.values[output];
    if (!value.is_output) continue;
    const bool is_made = value.maker >= 0;
    const bool is_stored =
        request_.graph().value(output).defining_node.valid() && !is_made;
    if (is_stored) continue;
    const MachineDeviceId device =
        is_made ? draft[value.maker].front() : HomeOfInput(draft, output);
    const int ports = !is_made && value.readers.empty() ? 2 : 1;
    const double taken = ports * SecondsOfPort(output, device);
    free_at_[device.index] += taken;
    busy_[device.index] += taken;
  }
}

DraftScore DraftTimer::Result() const {
  DraftScore score;
  for (int d = 0; d < devices_; ++d) {
    score.missing = std::max(
        score.missing, most_held_[d] - request_.objective.memory_limits[d]);
  }
  double latency = end_;
  double busiest = 0;
  for (int d = 0; d < devices_; ++d) {
    latency = std::max(latency, free_at_[d]);
    busiest = std::max(busiest, busy_[d]);
  }
  // What cannot run is worse than what lacks memory.
  if (latency == kNever) score.missing = std::numeric_limits<int64_t>::max();
  const int depth = request_.objective.depth;
  const int micro_batches = request_.options.micro_batches.count;
  score.seconds = latency + (micro_batches - 1) * busiest;
  if (depth > 1 && request_.objective.goal == Goal::kThroughput) {
    score.seconds = std::max(micro_batches * busiest, score.seconds / depth);
  }
  return score;
}

}  // namespace partita
