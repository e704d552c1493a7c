// The devices of this host, for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_DEVICE_LIST_H_
#define PARTITA_TOOLS_PARTITA_DEVICE_LIST_H_

#include <optional>
#include <string>

#include "graph/gpu_split.h"
#include "partita/profile/measure_gpus.h"
#include "placement/machine/detect_gpus.h"
#include "placement/machine/machine.h"

namespace partita {

struct DeviceList {
  GpuInventory gpus;
  GpuSplit split;
  Machine machine;  // HostMachine of these, with what was measured
  std::optional<GpuMeasurements> measured;
};

// A line for each device, route between two GPUs, link and measurement; and why
// there is no GPU, or not all, or no number of NVLinks.
std::string DeviceListText(const DeviceList& list);
// The same; sizes in bytes, bandwidths in bytes a second, latencies in seconds.
std::string DeviceListJson(const DeviceList& list);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_DEVICE_LIST_H_
