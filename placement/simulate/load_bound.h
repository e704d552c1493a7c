// The least time in which all devices together can do a step's work.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_LOAD_BOUND_H_
#define PARTITA_PLACEMENT_SIMULATE_LOAD_BOUND_H_

#include <cstddef>
#include <vector>

#include "graph/id_vector.h"
#include "placement/simulate/device_groups.h"

namespace partita {

// A command that some device must run, whole or in shards. Seconds are since
// the step began.
struct WorkItem {
  double head = 0;   // it starts no earlier
  double tail = 0;   // from its end to the end of the step
  double bytes = 0;  // stored on the device that runs it
};

// The commands of a step, and their seconds by group of devices.
class StepWork {
 public:
  explicit StepWork(size_t groups) : groups_(groups) {}

  // `seconds`: one for each group; infinite where the command cannot run.
  void Add(const WorkItem& item, const std::vector<double>& seconds);

  size_t size() const { return items_.size(); }
  const WorkItem& item(size_t i) const { return items_[i]; }
  double seconds(size_t i, DeviceGroupId group) const {
    return seconds_[i * groups_ + group.index];
  }

 private:
  const size_t groups_;
  std::vector<WorkItem> items_;
  std::vector<double> seconds_;  // item * groups + group
};

// Seconds, and the group whose load decides.
struct LoadBound {
  double seconds = 0;
  DeviceGroupId group;
};

// Both hold for any assignment of the commands, and of shards of them, to the
// devices. `WithinAStep` also counts that commands have heads and tails; steps
// may not overlap.
//
// The bound is the dual of the linear program that assigns the work: with a
// price per second of each group's devices, in sum 1, and a price per byte of
// their memory, the longest load is at least the price of all work where it is
// cheapest, less that of all memory.
class LoadBounder {
 public:
  // Both must outlive this.
  LoadBounder(const DeviceGroups& groups, const StepWork& work);

  LoadBound Overlapping() const;
  LoadBound WithinAStep() const;

 private:
  // By group.
  struct Prices {
    IdVector<DeviceGroupId, double> second;
    IdVector<DeviceGroupId, double> memory;  // of all its bytes
  };
  // What the prices lead to.
  struct Assignment {
    double bound = 0;
    IdVector<DeviceGroupId, double> load;   // seconds, all devices together
    IdVector<DeviceGroupId, double> bytes;  // stored
  };

  Prices FirstPrices() const;
  void Normalize(Prices& prices) const;
  bool IsShort(DeviceGroupId group) const;
  double MemoryPrice(const Prices& prices) const;
  double PriceOf(size_t item, const Prices& prices, DeviceGroupId* where) const;
  Assignment Assign(const Prices& prices) const;
  void Adjust(const Assignment& assignment, double best, double rate,
              Prices& prices) const;
  void Improve();
  double Among(const std::vector<size_t>& order, double WorkItem::*begin,
               double WorkItem::*end) const;

  const DeviceGroups& groups_;
  const StepWork& work_;
  double stored_ = 0;  // bytes of all items
  Prices best_;
  LoadBound bound_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_LOAD_BOUND_H_
