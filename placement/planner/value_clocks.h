// When each value of a draft is where, and in which form.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_VALUE_CLOCKS_H_
#define PARTITA_PLACEMENT_PLANNER_VALUE_CLOCKS_H_

#include <cstdint>
#include <vector>

#include "graph/id_vector.h"
#include "placement/machine/link_table.h"
#include "placement/planner/host_load.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/value_forms.h"

namespace partita {

// Times the transfers of one draft, each once. All times are in seconds from
// the start of the step; infinite: never. The rules are those of simulation:
// copies between two devices run in sequence; copies over one link or bus share
// its bandwidth, first come first served; a collective starts when all ranks
// have the value, and takes its own time on each. Not thread-safe.
class ValueClocks {
 public:
  // All must outlive it. Adds the work of transfers to `load`.
  ValueClocks(const SearchSpace& space, const ValueForms& forms,
              HostLoad& load);

  // Forgets all times.
  void Reset();
  double ready_at(FormedValue formed, MachineDeviceId device) const {
    return ready_at_[SlotOf(formed, device)];
  }
  void Make(FormedValue formed, MachineDeviceId device, double at) {
    ready_at_[SlotOf(formed, device)] = at;
  }
  // Transfers what `made` on `from` lacks to be `need` on `to`: copies, slices
  // or a collective. `need` is a form of the same value.
  void Bring(FormedValue made, const ItemDevices& from, FormedValue need,
             const ItemDevices& to);
  // The end of the last transfer; infinite if a link was missing.
  double end() const { return end_; }

  // A number for each form of each value on each device.
  int SlotOf(FormedValue formed, MachineDeviceId device) const {
    return first_slot_[formed.value] + formed.form * devices_ + device.index;
  }
  int num_slots() const { return static_cast<int>(ready_at_.size()); }
  // Of one device's shard, rounded up.
  int64_t bytes(FormedValue formed) const;
  // Seconds to take a shard of a whole value on its own device.
  double SecondsOfSlice(FormedValue shard, MachineDeviceId device) const;

 private:
  void NumberFlows();
  void BringWhole(FormedValue made, const ItemDevices& from,
                  const ItemDevices& to);
  void Copy(FormedValue formed, const ItemDevices& from, FormedValue to_form,
            MachineDeviceId to);
  void Slice(FormedValue whole, const ItemDevices& from, FormedValue shard,
             MachineDeviceId to);
  void Gather(FormedValue shards, MachineDeviceId to);
  void Collect(FormedValue made, FormedValue need);
  double SecondsOfCollective(FormedValue made, FormedValue need);
  double Flow(MachineDeviceId from, MachineDeviceId to, double ready,
              int64_t bytes);
  int Between(MachineDeviceId from, MachineDeviceId to) const {
    return from.index * devices_ + to.index;
  }

  const SearchSpace& space_;
  const CostModel& costs_;
  const ValueForms& forms_;
  HostLoad& load_;
  const int devices_;
  const ItemDevices split_devices_;
  const LinkTable links_;
  IdVector<ValueId, int> first_slot_;
  std::vector<int> flow_resource_;  // Between(from, to): link and way
  // By value: form made * forms + form needed; negative: not asked yet.
  IdVector<ValueId, std::vector<double>> collective_seconds_;

  // Of one draft.
  std::vector<double> ready_at_;      // by slot
  std::vector<double> copied_at_;     // Between(from, to)
  std::vector<double> flowed_at_;     // by flow resource
  std::vector<double> collected_at_;  // by device
  double end_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_VALUE_CLOCKS_H_
