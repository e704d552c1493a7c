// NVIDIA GPUs, by the CUDA driver.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H_
#define PARTITA_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "graph/gpu_split.h"
#include "runtime/device/device.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {

// Device `number`: the GPU split.GpuOf(number) among those that the driver
// shows, which are those that CUDA_VISIBLE_DEVICES leaves. Its streams run
// behind the host; its kernels are the plan's own. `api` outlives the device
// and all that it makes.
//
// A share of a GPU (`split`) has its part of the bytes that are free now. It is
// as other devices are: copies between shares of one GPU are copies within it.
//
// Unavailable, in one sentence, if there is no such GPU; FailedPrecondition if
// it is older than `traits.isa`.
absl::StatusOr<std::unique_ptr<Device>> NewCudaDevice(const DriverApi& api,
                                                      DeviceTraits traits,
                                                      int number,
                                                      GpuSplit split = {});

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H_
