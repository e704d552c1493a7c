// Devices in this process: the CPU itself, and devices that emulate any other.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_HOST_DEVICE_H_
#define PARTITA_RUNTIME_DEVICE_HOST_DEVICE_H_

#include <memory>

#include "runtime/device/device.h"

namespace partita {

// The CPU: host memory, and streams whose threads have `traits.threads` OpenMP
// threads.
std::unique_ptr<Device> NewCpuDevice(DeviceTraits traits);

// A device of any kind, emulated by the host: its own arena, real events and
// real copies; host kernels compute for it.
std::unique_ptr<Device> NewVirtualDevice(DeviceTraits traits);

// A device of any kind that sleeps for the predicted time of each command.
std::unique_ptr<Device> NewTimedDevice(DeviceTraits traits);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_HOST_DEVICE_H_
