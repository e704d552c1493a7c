// Copies, slices, gathers and collectives over the links of a machine.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/value_clocks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "placement/cost/collective_cost.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

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

CollectiveKind KindOf(Kind made, Kind need) {
  const bool to_split = need == Kind::kSplit;
  if (made == Kind::kPartial) {
    return to_split ? CollectiveKind::kReduceScatter
                    : CollectiveKind::kAllReduce;
  }
  return to_split ? CollectiveKind::kAllToAll : CollectiveKind::kAllGather;
}

}  // namespace

ValueClocks::ValueClocks(const SearchSpace& space, const ValueForms& forms,
                         HostLoad& load)
    : space_(space),
      costs_(space.request.costs),
      forms_(forms),
      load_(load),
      devices_(costs_.num_devices()),
      split_devices_(space.splits.devices().begin(),
                     space.splits.devices().end()),
      links_(costs_.machine()),
      collective_seconds_(space.flow.values.size()) {
  NumberFlows();
  int slots = 0;
  for (ValueId value : space.flow.values.ids()) {
    first_slot_.Add(slots);
    const int count = forms.count(value);
    slots += count * devices_;
    if (count > 1) collective_seconds_[value].assign(count * count, -1);
  }
  ready_at_.resize(slots);
}

void ValueClocks::NumberFlows() {
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
  flowed_at_.resize(resources.size());
}

void ValueClocks::Reset() {
  ready_at_.assign(ready_at_.size(), kNever);
  copied_at_.assign(devices_ * devices_, 0);
  flowed_at_.assign(flowed_at_.size(), 0);
  collected_at_.assign(devices_, 0);
  end_ = 0;
}

int64_t ValueClocks::bytes(FormedValue formed) const {
  const int64_t whole = costs_.bytes(formed.value);
  if (forms_.sharding(formed).kind != Kind::kSplit) return whole;
  const int ranks = space_.splits.num_ranks();
  return (whole + ranks - 1) / ranks;
}

double ValueClocks::SecondsOfSlice(FormedValue shard,
                                   MachineDeviceId device) const {
  const Machine& machine = costs_.machine();
  return machine.LocalCopyOf(machine.devices[device.index].traits)
      .SecondsOf(static_cast<double>(bytes(shard)));
}

void ValueClocks::Bring(FormedValue made, const ItemDevices& from,
                        FormedValue need, const ItemDevices& to) {
  if (need.form == ValueForms::kWholeForm) {
    BringWhole(made, from, to);
  } else if (made.form == ValueForms::kWholeForm) {
    for (MachineDeviceId device : to) Slice(made, from, need, device);
  } else if (made.form != need.form) {
    Collect(made, need);
  }
}

void ValueClocks::BringWhole(FormedValue made, const ItemDevices& from,
                             const ItemDevices& to) {
  const FormedValue whole = {made.value, ValueForms::kWholeForm};
  if (made.form == ValueForms::kWholeForm) {
    for (MachineDeviceId device : to) Copy(whole, from, whole, device);
    return;
  }
  const bool is_partial = forms_.sharding(made).kind == Kind::kPartial;
  if (is_partial || to == split_devices_) Collect(made, whole);
  if (to == split_devices_) return;
  for (MachineDeviceId device : to) {
    if (is_partial) {
      Copy(whole, split_devices_, whole, device);
    } else {
      Gather(made, device);
    }
  }
}

// Seconds at which `bytes` that are ready have gone over the link.
double ValueClocks::Flow(MachineDeviceId from, MachineDeviceId to, double ready,
                         int64_t bytes) {
  const Link& link = *costs_.link(from, to);
  double& copied_at = copied_at_[Between(from, to)];
  double& flowed_at = flowed_at_[flow_resource_[Between(from, to)]];
  const double flows =
      std::max(std::max(copied_at, ready) + link.latency, flowed_at);
  copied_at = flows + bytes / link.bandwidth;
  flowed_at = copied_at;
  load_.AddCopy(from, to, link.latency + bytes / link.bandwidth);
  end_ = std::max(end_, copied_at);
  return copied_at;
}

// From the device where it is ready first.
void ValueClocks::Copy(FormedValue formed, const ItemDevices& from,
                       FormedValue to_form, MachineDeviceId to) {
  double& ready = ready_at_[SlotOf(to_form, to)];
  if (ready < kNever) return;  // made there, or copied before
  MachineDeviceId source;
  for (MachineDeviceId device : from) {
    if (costs_.link(device, to) == nullptr) continue;
    if (!source.valid() ||
        ready_at(formed, device) < ready_at(formed, source)) {
      source = device;
    }
  }
  if (!source.valid()) {
    end_ = kNever;
    return;
  }
  ready = Flow(source, to, ready_at(formed, source), bytes(to_form));
}

void ValueClocks::Slice(FormedValue whole, const ItemDevices& from,
                        FormedValue shard, MachineDeviceId to) {
  double& ready = ready_at_[SlotOf(shard, to)];
  if (ready < kNever) return;
  if (!absl::c_linear_search(from, to)) {
    Copy(whole, from, shard, to);
    return;
  }
  double& copied_at = copied_at_[Between(to, to)];
  ready = std::max(copied_at, ready_at(whole, to)) + SecondsOfSlice(shard, to);
  load_.AddLocalCopy(to, SecondsOfSlice(shard, to));
  copied_at = ready;
}

// The whole value on one device, from the shards of all.
void ValueClocks::Gather(FormedValue shards, MachineDeviceId to) {
  double& ready = ready_at_[SlotOf({shards.value, ValueForms::kWholeForm}, to)];
  if (ready < kNever) return;
  double last = 0;
  for (MachineDeviceId from : split_devices_) {
    const double made = ready_at(shards, from);
    if (from == to) {
      last = std::max(last, made + SecondsOfSlice(shards, to));
    } else if (costs_.link(from, to) == nullptr) {
      end_ = kNever;
    } else {
      last = std::max(last, Flow(from, to, made, bytes(shards)));
    }
  }
  ready = last;
}

void ValueClocks::Collect(FormedValue made, FormedValue need) {
  double start = 0;
  bool is_done = true;
  for (MachineDeviceId device : split_devices_) {
    is_done = is_done && ready_at(need, device) < kNever;
    start =
        std::max({start, ready_at(made, device), collected_at_[device.index]});
  }
  if (is_done) return;
  const double seconds = SecondsOfCollective(made, need);
  const double end = start + seconds;
  for (MachineDeviceId device : split_devices_) {
    if (seconds < kNever) load_.AddLocalCopy(device, seconds);
    double& ready = ready_at_[SlotOf(need, device)];
    ready = std::min(ready, end);
    collected_at_[device.index] = end;
  }
  end_ = std::max(end_, end);
}

double ValueClocks::SecondsOfCollective(FormedValue made, FormedValue need) {
  double& seconds =
      collective_seconds_[made.value]
                         [made.form * forms_.count(made.value) + need.form];
  if (seconds >= 0) return seconds;
  std::vector<std::string> ranks;
  for (MachineDeviceId device : split_devices_) {
    ranks.push_back(costs_.device_name(device));
  }
  const CollectiveKind kind =
      KindOf(forms_.sharding(made).kind, forms_.sharding(need).kind);
  seconds =
      CollectiveSeconds(kind, bytes(made), ranks, links_).value_or(kNever) +
      costs_.machine()
          .devices[split_devices_.front().index]
          .traits.launch_seconds;
  return seconds;
}

}  // namespace partita
