// Counts cores by kind of device.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/host_cores.h"

#include <algorithm>

#include "graph/device_kind_traits.h"

namespace partita {

bool HostCores::IsShared(const DeviceTraits& device) const {
  return are_shared() && TraitsOf(device.kind).shares_host;
}

int HostCores::OfKernel(const DeviceTraits& device) const {
  return IsShared(device) ? std::max(1, device.threads) : 0;
}

int HostCores::OfLocalCopy(const DeviceTraits& device) const {
  return IsShared(device) ? 1 : 0;
}

int HostCores::OfCopy(const DeviceTraits& from, const DeviceTraits& to) const {
  return IsShared(from) && IsShared(to) ? 1 : 0;
}

double HostCores::Slowdown(int busy) const {
  if (!are_shared()) return 1;
  return std::max(1.0, static_cast<double>(busy) / host_.cores);
}

double HostCores::LeastSeconds(double core_seconds) const {
  return are_shared() ? core_seconds / host_.cores : 0;
}

double HostCores::WakeSeconds(const DeviceTraits& device, double waited,
                              int threads) const {
  if (!IsShared(device) || waited <= 0) return 0;
  const bool polls = threads <= host_.cores && waited <= kPollSeconds;
  return polls ? 0 : host_.wake_seconds;
}

double HostCores::HandoverSeconds(const DeviceTraits& to) const {
  return IsShared(to) ? host_.wake_seconds : 0;
}

}  // namespace partita
