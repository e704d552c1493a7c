// The CUDA driver that this process uses.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_THIRD_PARTY_CUDA_LOADER_PROCESS_DRIVER_H_
#define PARTITA_THIRD_PARTY_CUDA_LOADER_PROCESS_DRIVER_H_

#include "absl/status/statusor.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {

// The table of SetProcessDriver, else libcuda.so.1 of ProcessCudaPath, opened
// at the first call; its errors are those of LoadCudaDriver. The table exists
// as long as the process. Thread safe.
absl::StatusOr<const DriverApi*> ProcessDriver();

// From now on, ProcessDriver returns this table: an emulated driver's. Null:
// libcuda.so.1 again. Nothing of the former driver may be in use.
void SetProcessDriver(const DriverApi* api);

}  // namespace partita

#endif  // PARTITA_THIRD_PARTY_CUDA_LOADER_PROCESS_DRIVER_H_
