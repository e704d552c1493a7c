// Rates of a device, with defaults.
// SPDX-License-Identifier: Apache-2.0

#include "graph/device_rates.h"

namespace partita {
namespace {

constexpr double kUnstatedFlops = 1e9;
constexpr double kUnstatedBandwidth = 1e8;

}  // namespace

double PeakFlops(const DeviceTraits& device, DType dtype) {
  for (const DType listed : {dtype, DType::kF32}) {
    const double peak = device.peak_flops[static_cast<int>(listed)];
    if (peak > 0) return peak;
  }
  return kUnstatedFlops;
}

double MemoryBandwidth(const DeviceTraits& device) {
  return device.memory_bandwidth > 0 ? device.memory_bandwidth
                                     : kUnstatedBandwidth;
}

}  // namespace partita
