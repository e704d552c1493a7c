// The few calls of NVIDIA's driver that list GPUs, in builds without headers of
// CUDA too.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_GPU_DRIVER_H_
#define PARTITA_PLACEMENT_MACHINE_GPU_DRIVER_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "third_party/cuda_search/library_path.h"

namespace partita {

// Declared as in cuda.h, with int for CUdevice, CUresult and enumerations. The
// numbers of attributes are part of the driver's stable interface. Results are
// CUresult: 0 is success.
struct GpuDriver {
  // Of DeviceGetAttribute (CUdevice_attribute).
  enum Attribute : int {
    kClockKilohertz = 13,
    kMultiprocessors = 16,
    kMemoryClockKilohertz = 36,
    kMemoryBusBits = 37,
    kCapabilityMajor = 75,
    kCapabilityMinor = 76,
  };
  // Of DeviceGetP2PAttribute (cuda.h:3184).
  enum PeerAttribute : int {
    kPerformanceRank = 1,
    kAccessSupported = 2,
    kNativeAtomics = 3,
  };

  int (*version)(int* version) = nullptr;
  int (*init)(unsigned flags) = nullptr;
  int (*count)(int* count) = nullptr;
  int (*device)(int* device, int ordinal) = nullptr;
  int (*total_memory)(size_t* bytes, int device) = nullptr;
  int (*attribute)(int* value, int attribute, int device) = nullptr;
  int (*name)(char* name, int length, int device) = nullptr;
  int (*pci_address)(char* address, int length, int device) = nullptr;
  int (*peer_attribute)(int* value, int attribute, int from, int to) = nullptr;
  int (*error_name)(int result, const char** name) = nullptr;

  // "CUDA_ERROR_NO_DEVICE (100)".
  std::string TextOf(int result) const;
};

// Opens libcuda.so.1; does not call cuInit. Errors are one sentence: NotFound
// if there is no library or a function is missing, FailedPrecondition if no
// plan runs on the driver, as it is too old (driver_version.h) or reports no
// version.
absl::StatusOr<GpuDriver> OpenGpuDriver(const CudaSearchPath& path);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_GPU_DRIVER_H_
