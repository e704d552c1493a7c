// Predicts a step of a draft without lowering it, in time linear in its nodes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_DRAFT_TIMER_H_
#define PARTITA_PLACEMENT_PLANNER_DRAFT_TIMER_H_

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "graph/id_vector.h"
#include "placement/planner/draft_score.h"
#include "placement/planner/host_load.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/port_prices.h"
#include "placement/planner/value_clocks.h"
#include "placement/planner/value_forms.h"

namespace partita {

// The rules, which follow those of lowering and simulation:
//  1. A device computes one node at a time: of those that can start first, the
//     one with the highest upward rank. An input is fed right before its first
//     reader on a device, as shards if all its readers read the same ones;
//     outputs are fetched after all nodes. A device with ports beside kernels
//     feeds inputs from the start, in this order, and fetches each output when
//     it is made. Outputs are brought to PlannerOptions::output_device if there
//     is one.
//  2. A value is brought once to each device and into each form in which it is
//     read (ValueClocks).
//  3. The new value of a variable is brought to the variable's first reader.
//  4. Constants and variables take memory on every device that reads them;
//     other values do so from their node to their last reader. A shard takes
//     its share.
//  5. A device that waits goes on after the host's wake-up, and no step is
//     shorter than its work on the host's cores (HostLoad).
//  6. With `depth` steps in flight, or micro-batches, a step takes as long as
//     the busiest device, and the first one fills the pipeline. Steps need a
//     device that overlaps them for that (DeviceKindTraits::overlaps_steps).
// Sharded pins count as replicas. Not thread-safe.
class DraftTimer {
 public:
  // The space must outlive it.
  explicit DraftTimer(const SearchSpace& space);

  DraftScore Score(const ItemDraft& draft);

  // From now on a draft fits that needs up to this share more than the limits.
  void AllowMoreMemory(double share);

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
  void Reset(const ItemDraft& draft);
  void ChooseFeeds(const ItemDraft& draft);
  void PushReady(const ItemDraft& draft, int item);
  void Run(const ItemPlace& place, Unit unit);
  void BringResults(const ItemDraft& draft, int item);
  void Release(const ItemDraft& draft, int item);
  void Free(ValueId value);
  void Hold(FormedValue formed, MachineDeviceId device, int64_t times);
  double Feed(const ItemPlace& place, Unit unit, double& start);
  void FeedTo(FormedValue fed, MachineDeviceId device, double& seconds);
  double SecondsOfPort(FormedValue formed, MachineDeviceId device) const;
  double StartOf(const ItemPlace& place, Unit unit) const;
  double SecondsOf(const ItemPlace& place, Unit unit) const;
  MachineDeviceId HomeOfInput(const ItemDraft& draft, ValueId input) const;
  MachineDeviceId FetchedFrom(MachineDeviceId home) const;
  void BringOutput(const ItemPlace& place, FormedValue made);
  void BringInput(ValueId input, MachineDeviceId home);
  void FetchOutputs(const ItemDraft& draft);
  DraftScore Result() const;
  bool MayOverlapSteps() const;

  bool IsMade(ValueId value) const {
    return space_.flow.values[value].maker >= 0;
  }

  const SearchSpace& space_;
  const PlanRequest& request_;
  const CostModel& costs_;
  const Flow& flow_;
  const ValueForms forms_;
  const int devices_;
  const MachineDeviceId output_device_;  // invalid: where outputs are made
  const std::vector<double> ranks_;      // by item
  const PortPrices ports_;
  // Of whole items: item * devices + device.
  std::vector<double> seconds_;
  // The first reader of the variable whose new value it is, and the variable.
  struct UpdateReader {
    int item = -1;  // -1: no update
    ValueId variable;
  };
  IdVector<ValueId, UpdateReader> update_readers_;

  // Of one draft.
  HostLoad load_;
  ValueClocks clocks_;
  std::vector<int> fed_form_;    // by value: of inputs
  std::vector<double> free_at_;  // by device
  std::vector<double> busy_;     // by device
  // By device with ports beside kernels: the ends of what it feeds, without a
  // pause, and of what it fetches, and the seconds of the latter.
  std::vector<double> fed_at_;
  std::vector<double> fetched_at_;
  std::vector<double> fetching_;
  std::vector<int> waiting_;     // by item: sources that are not made
  std::vector<int> units_left_;  // by item
  std::vector<int> unread_;      // by value: readers that have not run
  std::vector<char> is_held_;    // by slot
  std::vector<int64_t> held_;    // by device: bytes
  std::vector<int64_t> most_held_;
  std::vector<int64_t> limits_;  // by device: bytes
  std::priority_queue<Key, std::vector<Key>, std::greater<Key>> ready_;
  double end_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_DRAFT_TIMER_H_
