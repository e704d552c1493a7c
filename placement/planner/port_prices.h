// What feeds and fetches of each device take.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_PORT_PRICES_H_
#define PARTITA_PLACEMENT_PLANNER_PORT_PRICES_H_

#include <cstdint>

#include "graph/id_vector.h"
#include "placement/cost/cost_model.h"

namespace partita {

// As CommandCost (placement/simulate/command_cost.h): a device that shares the
// host copies in its own memory.
class PortPrices {
 public:
  explicit PortPrices(const CostModel& costs);

  double Seconds(MachineDeviceId device, int64_t bytes) const {
    const Price& price = prices_[device];
    return price.fixed + static_cast<double>(bytes) * price.per_byte;
  }
  // DeviceKindTraits::ports_beside_kernels.
  bool AreBesideKernels(MachineDeviceId device) const {
    return prices_[device].beside;
  }

 private:
  struct Price {
    double fixed = 0;  // seconds
    double per_byte = 0;
    bool beside = false;
  };

  IdVector<MachineDeviceId, Price> prices_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PORT_PRICES_H_
