// Devices that live in this process: the CPU itself, and virtual devices that
// stand in for any other.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_HOST_DEVICE_H_
#define PARTITA_RUNTIME_DEVICE_HOST_DEVICE_H_

#include <memory>

#include "runtime/device/device.h"

namespace partita {

// Host memory; streams whose threads have an OpenMP team of traits.threads.
std::unique_ptr<Device> NewCpuDevice(DeviceTraits traits);

// A device of any kind, played by the host: an arena of its own, real events
// and real copies. `timed`: commands sleep instead of computing.
std::unique_ptr<Device> NewVirtualDevice(DeviceTraits traits, bool timed);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_HOST_DEVICE_H_
