// The plain functions that the table points to.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_ENTRY_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_ENTRY_H_

#include "absl/strings/string_view.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita::emulated_gpu {

class Driver;

// Sets the driver that the functions call, or null; false if there is one
// already.
bool SetCurrentDriver(Driver* driver);

// Filled with functions that find the current driver; without one, they return
// CUDA_ERROR_DEINITIALIZED.
const DriverApi& EntryTable();

// The function of that name as cuGetProcAddress knows it, without the version:
// "cuMemAlloc" for cuMemAlloc_v2. Null if there is none.
void* FindEntry(absl::string_view name);

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_ENTRY_H_
