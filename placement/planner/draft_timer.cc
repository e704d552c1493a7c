// List scheduling of a draft over devices, copy streams and links.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/draft_timer.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/op_view.h"
#include "placement/planner/list_schedule.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kWholeForm = ValueForms::kWholeForm;

}  // namespace

DraftTimer::DraftTimer(const SearchSpace& space)
    : space_(space),
      request_(space.request),
      costs_(space.request.costs),
      flow_(space.flow),
      forms_(space),
      devices_(costs_.num_devices()),
      output_device_(costs_.FindDevice(request_.options.output_device)),
      ranks_(UpwardRanks(request_, flow_)),
      ports_(costs_),
      load_(costs_),
      clocks_(space, forms_, load_) {
  PriceItems();
  FindUpdateReaders();
  AllowMoreMemory(0);
}

void DraftTimer::AllowMoreMemory(double share) {
  limits_.clear();
  for (int64_t limit : request_.objective.memory_limits) {
    const double more = share * static_cast<double>(limit);
    limits_.push_back(limit + static_cast<int64_t>(more));
  }
}

void DraftTimer::PriceItems() {
  Draft pins(request_.graph());
  PutPinned(request_, pins);
  for (const FlowItem& item : flow_.items) {
    const NodeDevices& pinned = pins.assignment[item.node];
    for (MachineDeviceId d : costs_.devices()) {
      const NodeCost& cost = costs_.cost(item.node, d);
      seconds_.push_back(!pinned.devices.empty()
                             ? partita::SecondsOf(costs_, item.node, pinned)
                         : cost.can_run ? cost.seconds
                                        : kNever);
    }
  }
}

void DraftTimer::FindUpdateReaders() {
  const Graph& graph = request_.graph();
  absl::flat_hash_map<std::string, UpdateReader> readers;
  for (const OpView& variable : graph.ops(kVariable)) {
    const ValueId value = variable.result(0).id();
    const std::vector<int>& items = flow_.values[value].readers;
    if (items.empty()) continue;
    readers.try_emplace(variable.attr_string("name"),
                        UpdateReader{items.front(), value});
  }
  update_readers_ = IdVector<ValueId, UpdateReader>(flow_.values.size(), {});
  for (const VariableUpdate& update : graph.updates()) {
    const auto reader = readers.find(update.variable);
    if (reader == readers.end()) continue;
    update_readers_[costs_.root(update.value)] = reader->second;
  }
}

DraftScore DraftTimer::Score(const ItemDraft& draft) {
  Reset(draft);
  for (size_t i = 0; i < flow_.items.size(); ++i) {
    if (waiting_[i] == 0) PushReady(draft, static_cast<int>(i));
  }
  while (!ready_.empty()) {
    const auto [start, rank, item, device] = ready_.top();
    ready_.pop();
    // The device may have become busy since the unit was queued.
    const double now = StartOf(draft[item], {item, device});
    if (now > start && !ready_.empty() && now > std::get<0>(ready_.top())) {
      ready_.push({now, rank, item, device});
      continue;
    }
    Run(draft[item], {item, device});
    if (--units_left_[item] > 0) continue;
    BringResults(draft, item);
    Release(draft, item);
  }
  FetchOutputs(draft);
  return Result();
}

void DraftTimer::Reset(const ItemDraft& draft) {
  load_.Reset();
  clocks_.Reset();
  is_held_.assign(clocks_.num_slots(), 0);
  free_at_.assign(devices_, 0);
  busy_.assign(devices_, 0);
  fed_at_.assign(devices_, 0);
  fetched_at_.assign(devices_, 0);
  fetching_.assign(devices_, 0);
  held_.assign(devices_, 0);
  most_held_.assign(devices_, 0);
  waiting_.assign(flow_.items.size(), 0);
  units_left_.resize(flow_.items.size());
  unread_.resize(flow_.values.size());
  end_ = 0;
  for (size_t i = 0; i < flow_.items.size(); ++i) {
    units_left_[i] = static_cast<int>(draft[i].devices.size());
    for (ValueId source : flow_.items[i].sources) {
      waiting_[i] += IsMade(source) ? 1 : 0;
    }
  }
  for (ValueId v : flow_.values.ids()) {
    unread_[v.index] = static_cast<int>(flow_.values[v].readers.size());
  }
  ChooseFeeds(draft);
}

// A form if all readers read it alone, else whole.
void DraftTimer::ChooseFeeds(const ItemDraft& draft) {
  fed_form_.assign(flow_.values.size(), kWholeForm);
  for (ValueId input : request_.graph().inputs()) {
    if (forms_.count(input) == 1 || flow_.values[input].is_output) continue;
    int form = -1;
    for (int reader : flow_.values[input].readers) {
      for (const FormedValue& read :
           forms_.sources(reader, draft[reader].split)) {
        if (read.value != input) continue;
        form = form < 0 || form == read.form ? read.form : kWholeForm;
      }
    }
    fed_form_[input.index] = std::max(form, kWholeForm);
  }
}

double DraftTimer::StartOf(const ItemPlace& place, Unit unit) const {
  double start = free_at_[unit.device.index];
  for (const FormedValue& source : forms_.sources(unit.item, place.split)) {
    if (!IsMade(source.value)) continue;  // fed by the unit
    start = std::max(start, clocks_.ready_at(source, unit.device));
  }
  return start;
}

void DraftTimer::PushReady(const ItemDraft& draft, int item) {
  for (MachineDeviceId device : draft[item].devices) {
    ready_.push(
        {StartOf(draft[item], {item, device}), -ranks_[item], item, device});
  }
}

double DraftTimer::SecondsOfPort(FormedValue formed,
                                 MachineDeviceId device) const {
  return ports_.Seconds(device, clocks_.bytes(formed));
}

double DraftTimer::SecondsOf(const ItemPlace& place, Unit unit) const {
  return place.split == ItemPlace::kWhole
             ? seconds_[unit.item * devices_ + unit.device.index]
             : space_.splits.of(unit.item)[place.split].seconds;
}

void DraftTimer::FeedTo(FormedValue fed, MachineDeviceId device,
                        double& seconds) {
  const double taken = SecondsOfPort(fed, device);
  if (ports_.AreBesideKernels(device)) {
    fed_at_[device.index] += taken;
    clocks_.Make(fed, device, fed_at_[device.index]);
  } else {
    clocks_.Make(fed, device, 0);
    seconds += taken;
  }
}

// Seconds to feed the inputs that the device does not hold yet, before the
// unit. `start` becomes no earlier than inputs that it has.
double DraftTimer::Feed(const ItemPlace& place, Unit unit, double& start) {
  const MachineDeviceId device = unit.device;
  double seconds = 0;
  for (const FormedValue& source : forms_.sources(unit.item, place.split)) {
    if (IsMade(source.value)) continue;
    if (clocks_.ready_at(source, device) == kNever) {
      const FormedValue fed = {source.value, fed_form_[source.value.index]};
      if (clocks_.ready_at(fed, device) == kNever) {
        FeedTo(fed, device, seconds);
      }
      if (fed.form != source.form) {
        clocks_.Make(source, device, clocks_.ready_at(fed, device));
        seconds += clocks_.SecondsOfSlice(source, device);
      }
    }
    start = std::max(start, clocks_.ready_at(source, device));
  }
  return seconds;
}

void DraftTimer::Hold(FormedValue formed, MachineDeviceId device,
                      int64_t times) {
  char& is_held = is_held_[clocks_.SlotOf(formed, device)];
  if (is_held != 0) return;
  is_held = 1;
  held_[device.index] += times * clocks_.bytes(formed);
}

void DraftTimer::Run(const ItemPlace& place, Unit unit) {
  const auto& [item, device] = unit;
  double start = StartOf(place, unit);
  const double fed = Feed(place, unit, start);
  const double computed = SecondsOf(place, unit);
  const double taken = fed + computed;
  load_.AddLocalCopy(device, fed);
  load_.AddKernel(device, computed);
  double& free_at = free_at_[device.index];
  start += load_.WakeSeconds(device, start - free_at);
  free_at = start + taken;
  busy_[device.index] += taken;
  end_ = std::max(end_, free_at);
  const int64_t depth = request_.objective.depth;
  for (const FormedValue& stored : forms_.stored(item, place.split)) {
    Hold(stored, device, 1);
  }
  for (const FormedValue& source : forms_.sources(item, place.split)) {
    Hold(source, device, depth);
  }
  for (const FormedValue& result : forms_.results(item, place.split)) {
    Hold(result, device, flow_.values[result.value].is_update ? 1 : depth);
    clocks_.Make(result, device, free_at);
  }
  const int64_t workspace =
      depth * costs_.cost(flow_.items[item].node, device).workspace;
  int64_t& most = most_held_[device.index];
  most = std::max(most, held_[device.index] + workspace);
}

void DraftTimer::BringResults(const ItemDraft& draft, int item) {
  const ItemPlace& place = draft[item];
  for (const FormedValue& made : forms_.results(item, place.split)) {
    for (int reader : flow_.values[made.value].readers) {
      const ItemPlace& to = draft[reader];
      for (const FormedValue& need : forms_.sources(reader, to.split)) {
        if (need.value != made.value) continue;
        clocks_.Bring(made, place.devices, need, to.devices);
      }
    }
    if (flow_.values[made.value].is_output) BringOutput(place, made);
    const UpdateReader& updated = update_readers_[made.value];
    if (updated.item < 0) continue;
    const ItemPlace& home = draft[updated.item];
    for (const FormedValue& stored : forms_.stored(updated.item, home.split)) {
      if (stored.value != updated.variable) continue;
      clocks_.Bring(made, place.devices,
                    {made.value, forms_.FormLike(made.value, stored)},
                    home.devices);
    }
  }
}

// Frees operands after their last reader, and queues readers that can run.
void DraftTimer::Release(const ItemDraft& draft, int item) {
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
  for (int form = 0; form < forms_.count(value); ++form) {
    const FormedValue formed = {value, form};
    for (MachineDeviceId d : costs_.devices()) {
      char& is_held = is_held_[clocks_.SlotOf(formed, d)];
      if (is_held == 0) continue;
      is_held = 0;
      held_[d.index] -= request_.objective.depth * clocks_.bytes(formed);
    }
  }
}

MachineDeviceId DraftTimer::FetchedFrom(MachineDeviceId home) const {
  return output_device_.valid() ? output_device_ : home;
}

void DraftTimer::BringOutput(const ItemPlace& place, FormedValue made) {
  const MachineDeviceId device = FetchedFrom(place.devices.front());
  const FormedValue whole = {made.value, kWholeForm};
  clocks_.Bring(made, place.devices, whole, {device});
  if (!output_device_.valid()) return;
  Hold(whole, device, request_.objective.depth);
  int64_t& most = most_held_[device.index];
  most = std::max(most, held_[device.index]);
}

// An input that is an output too is fetched where it is read first in the
// machine's order, or fed to the first device only to be fetched.
MachineDeviceId DraftTimer::HomeOfInput(const ItemDraft& draft,
                                        ValueId input) const {
  MachineDeviceId home;
  for (int reader : flow_.values[input].readers) {
    const MachineDeviceId device = draft[reader].devices.front();
    if (!home.valid() || device < home) home = device;
  }
  return home.valid() ? home : MachineDeviceId(0);
}

// Feeds it if no node reads it, and brings it to the output device.
void DraftTimer::BringInput(ValueId input, MachineDeviceId home) {
  const FormedValue whole = {input, kWholeForm};
  if (flow_.values[input].readers.empty()) {
    double taken = 0;
    FeedTo(whole, home, taken);
    free_at_[home.index] += taken;
    busy_[home.index] += taken;
    load_.AddLocalCopy(home, taken);
  }
  const MachineDeviceId device = FetchedFrom(home);
  if (device != home) clocks_.Bring(whole, {home}, whole, {device});
}

void DraftTimer::FetchOutputs(const ItemDraft& draft) {
  for (ValueId output : flow_.values.ids()) {
    const FlowValue& value = flow_.values[output];
    if (!value.is_output) continue;
    const bool is_made = value.maker >= 0;
    const bool is_stored =
        request_.graph().value(output).defining_node.valid() && !is_made;
    if (is_stored) continue;
    const MachineDeviceId home = is_made ? draft[value.maker].devices.front()
                                         : HomeOfInput(draft, output);
    if (!is_made) BringInput(output, home);
    const MachineDeviceId device = FetchedFrom(home);
    const FormedValue whole = {output, kWholeForm};
    const double taken = SecondsOfPort(whole, device);
    const bool beside = ports_.AreBesideKernels(device);
    double& free_at = (beside ? fetched_at_ : free_at_)[device.index];
    free_at = std::max(free_at, clocks_.ready_at(whole, device));
    free_at += taken;
    (beside ? fetching_ : busy_)[device.index] += taken;
    load_.AddLocalCopy(device, taken);
  }
}

// True if a device overlaps its part of a step with the step before.
bool DraftTimer::MayOverlapSteps() const {
  if (request_.objective.depth <= 1) return false;
  for (int d = 0; d < devices_; ++d) {
    const DeviceKind kind = costs_.machine().devices[d].traits.kind;
    if (busy_[d] > 0 && TraitsOf(kind).overlaps_steps) return true;
  }
  return false;
}

DraftScore DraftTimer::Result() const {
  const Objective& objective = request_.objective;
  double latency = std::max({end_, clocks_.end(), load_.LeastSeconds()});
  double busiest = load_.LeastSeconds();
  for (int d = 0; d < devices_; ++d) {
    latency = std::max({latency, free_at_[d], fetched_at_[d]});
    busiest = std::max({busiest, busy_[d], fed_at_[d], fetching_[d]});
  }
  if (latency == kNever) return kNoDraft;
  const int micro_batches = request_.options.micro_batches.count;
  double seconds = latency + (micro_batches - 1) * busiest;
  if (MayOverlapSteps() && objective.goal != Goal::kLatency) {
    seconds = std::max(micro_batches * busiest, seconds / objective.depth);
  }
  return ScoreOf(objective, {limits_, most_held_, seconds});
}

}  // namespace partita
