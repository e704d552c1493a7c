// The rates of a device, for cost models.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_DEVICE_RATES_H_
#define PARTITA_GRAPH_DEVICE_RATES_H_

#include "graph/device_traits.h"
#include "graph/dtype.h"

namespace partita {

// Operations per second for a dtype. An unlisted dtype counts as f32; 1e9 if
// the device lists none.
double PeakFlops(const DeviceTraits& device, DType dtype);

// Bytes per second; 1e8 if the device lists no bandwidth.
double MemoryBandwidth(const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_GRAPH_DEVICE_RATES_H_
