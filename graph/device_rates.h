// The rates of a device, as whoever prices work asks for them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_DEVICE_RATES_H_
#define PARTITA_GRAPH_DEVICE_RATES_H_

#include "graph/device_traits.h"
#include "graph/dtype.h"

namespace partita {

// Operations per second for a dtype. One that the device does not list counts
// as f32; 1e9 where it lists none at all.
double PeakFlops(const DeviceTraits& device, DType dtype);

// Bytes per second; 1e8 where the device states none.
double MemoryBandwidth(const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_GRAPH_DEVICE_RATES_H_
