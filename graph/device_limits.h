// Upper limits for devices in machine files and plans.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_DEVICE_LIMITS_H_
#define PARTITA_GRAPH_DEVICE_LIMITS_H_

#include <cstddef>

namespace partita {

// In one machine or plan.
inline constexpr size_t kMaxDevices = 1024;
// Of one device; each of its streams starts this many threads.
inline constexpr int kMaxDeviceThreads = 4096;

}  // namespace partita

#endif  // PARTITA_GRAPH_DEVICE_LIMITS_H_
