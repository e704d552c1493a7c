// Predicts a step of a draft without lowering it, in time linear in its nodes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_DRAFT_TIMER_H_
#define PARTITA_PLACEMENT_PLANNER_DRAFT_TIMER_H_

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/id_vector.h"
#include "placement/planner/flow.h"
#include "placement/planner/placement_draft.h"

namespace partita {

// The devices that each compute the whole item, ascending.
using ItemDevices = absl::InlinedVector<MachineDeviceId, 1>;
// By item of a flow: a draft of whole nodes.
using WholeDraft = std::vector<ItemDevices>;

// An estimate, to compare drafts by. Less is better: first memory, then time.
struct DraftScore {
  int64_t missing = 0;  // bytes on the device that lacks most; 0: it fits
  double seconds = 0;   // of a step, as the goal counts it; infinite: no link

  friend auto operator<=>(const DraftScore&, const DraftScore&) = default;
};

// The rules, which follow those of lowering and simulation:
//  1. A device computes one node at a time: of those that can start first, the
//     one with the highest upward rank. An input is fed right before its first
//     reader on a device; outputs are fetched after all nodes.
//  2. A value is copied once to each device that reads it, from the device
//     where it is ready first. Copies between two devices run in sequence;
//     copies over one link or bus share its bandwidth, first come first served.
//  3. The new value of a variable is copied to the variable's first reader.
//  4. Constants and variables take memory on every device that reads them;
//     other values do so from their node to their last reader.
//  5. With `depth` steps in flight, or micro-batches, a step takes as long as
//     the busiest device, and the first one fills the pipeline.
// Sharded pins count as replicas. Not thread-safe.
class DraftTimer {
 public:
  // All must outlive it.
  DraftTimer(const PlanRequest& request, const Flow& flow);

  DraftScore Score(const WholeDraft& draft);

 private:
  // An item on one of its devices.
  struct Unit {
    int item;
    MachineDeviceId device;
  };
  // Lower is better: start, rank, item, device.
  using Key = std::tuple<double, double, int, MachineDeviceId>;

  void PriceItems();
  void FindUpdateReaders();
  void Reset(const WholeDraft& draft);
  void PushReady(const WholeDraft& draft, int item);
  void Run(const WholeDraft& draft, Unit unit);
  void Copy(ValueId value, const ItemDevices& from, MachineDeviceId to);
  void CopyResults(const WholeDraft& draft, int item);
  void Release(const WholeDraft& draft, int item);
  void Free(ValueId value);
  void Hold(ValueId value, MachineDeviceId device, int64_t bytes);
  double Feeds(int item, MachineDeviceId device);
  double SecondsOfPort(ValueId value, MachineDeviceId device) const;
  double StartOf(int item, MachineDeviceId device) const;
  MachineDeviceId HomeOfInput(const WholeDraft& draft, ValueId input) const;
  void FetchOutputs(const WholeDraft& draft);
  DraftScore Result() const;

  int At(ValueId value, MachineDeviceId device) const {
    return value.index * devices_ + device.index;
  }
  int Between(MachineDeviceId from, MachineDeviceId to) const {
    return from.index * devices_ + to.index;
  }
  double seconds(int item, MachineDeviceId device) const {
    return seconds_[item * devices_ + device.index];
  }

  const PlanRequest& request_;
  const CostModel& costs_;
  const Flow& flow_;
  const int devices_;
  const std::vector<double> ranks_;    // by item
  std::vector<double> seconds_;        // item * devices + device
  std::vector<double> port_fixed_;     // by device: seconds of any feed
  std::vector<double> port_per_byte_;  // by device
  std::vector<int> update_reader_;     // by value: item; -1: no update
  std::vector<int> flow_resource_;     // from * devices + to: link and way
  int num_flow_resources_ = 0;

  // Of one draft.
  std::vector<double> ready_at_;   // At(value, device); infinite: not there
  std::vector<double> free_at_;    // by device
  std::vector<double> busy_;       // by device
  std::vector<double> copied_at_;  // Between(from, to)
  std::vector<double> flowed_at_;  // by flow resource
  std::vector<int> waiting_;       // by item: sources that are not made
  std::vector<int> units_left_;    // by item
  std::vector<int> unread_;        // by value: readers that have not run
  std::vector<char> is_held_;      // At(value, device)
  std::vector<int64_t> held_;      // by device: bytes
  std::vector<int64_t> most_held_;
  std::priority_queue<Key, std::vector<Key>, std::greater<Key>> ready_;
  double end_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_DRAFT_TIMER_H_
