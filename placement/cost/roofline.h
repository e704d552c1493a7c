// The roofline: how long work takes on a device at least.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_ROOFLINE_H_
#define PARTITA_PLACEMENT_COST_ROOFLINE_H_

#include <cstdint>

#include "graph/device_traits.h"
#include "graph/op_view.h"
#include "placement/machine/machine.h"

namespace partita {

// Launch cost plus the slower of arithmetic and memory traffic (Williams,
// Waterman and Patterson 2009). The dtype is that of the first float operand,
// else of the first result; an op without a cost moves its operands and results
// once.
double RooflineSeconds(const OpView& node, const DeviceTraits& device);

// Latency plus bytes over bandwidth, with nobody else on the link or bus.
double LinkSeconds(const Link& link, int64_t bytes);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_ROOFLINE_H_
