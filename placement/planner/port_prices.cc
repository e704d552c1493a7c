// Prices local copies and links to the host.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/port_prices.h"

#include <limits>

#include "graph/device_kind_traits.h"

namespace partita {

PortPrices::PortPrices(const CostModel& costs) {
  for (MachineDeviceId d : costs.devices()) {
    const DeviceTraits& traits = costs.machine().devices[d.index].traits;
    Price price{.beside = TraitsOf(traits.kind).ports_beside_kernels};
    const Link* link = costs.port_link(d);
    if (!costs.has_ports(d)) {
      price.fixed = std::numeric_limits<double>::infinity();
    } else if (link != nullptr) {
      price.fixed = link->latency;
      price.per_byte = 1 / link->bandwidth;
    } else {
      const LocalCopy copy = costs.machine().LocalCopyOf(traits);
      price.fixed = copy.fixed;
      price.per_byte = copy.per_byte;
    }
    prices_.Add(price);
  }
}

}  // namespace partita
