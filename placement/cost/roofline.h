// The roofline: a lower bound of a node's time on a device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_ROOFLINE_H_
#define PARTITA_PLACEMENT_COST_ROOFLINE_H_

#include <cstdint>

#include "graph/device_traits.h"
#include "graph/op_view.h"
#include "placement/machine/machine.h"

namespace partita {

// Seconds: launch cost plus the slower of arithmetic and memory traffic
// (Williams, Waterman and Patterson 2009). The dtype is that of the first float
// operand or, without one, of the first result. An op without a cost moves its
// operands and results once.
double RooflineSeconds(const OpView& node, const DeviceTraits& device);

// Seconds: latency plus bytes over bandwidth, without contention.
double LinkSeconds(const Link& link, int64_t bytes);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_ROOFLINE_H_
