// What each device waits for between its kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_DEVICE_WAITS_H_
#define PARTITA_TOOLS_VIEWER_DEVICE_WAITS_H_

#include <vector>

#include "tools/viewer/plan_view.h"

namespace partita {

// The time that a device waits for the commands of one kind of one device.
struct DeviceWait {
  enum class For : uint8_t { kKernels, kTransfers, kPorts };
  int device = 0;
  For what = For::kKernels;
  int source = 0;  // the device of these commands
  double seconds = 0;
  int commands = 0;
  CommandId longest;  // of these commands, by the time waited for it
  double longest_seconds = 0;
};

// The waits of one device, the longest first; empty without causes.
std::vector<DeviceWait> WaitsOf(const ViewedEntry& entry, int device);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_DEVICE_WAITS_H_
