// Finds the driver's functions with dlsym.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/gpu_driver.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "third_party/cuda_search/driver_version.h"

namespace partita {
namespace {

constexpr char kLibrary[] = "libcuda.so.1";

class Loader {
 public:
  explicit Loader(void* library) : library_(library) {}

  template <typename Function>
  void Load(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  absl::Status status() const {
    if (missing_ == nullptr) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat(kLibrary, ": found no ", missing_,
                                            "; expected a CUDA driver"));
  }

 private:
  void* const library_;
  const char* missing_ = nullptr;
};

// Plans would place nodes on its GPUs, and no session could open them.
absl::Status CheckVersion(const GpuDriver& driver) {
  int version = 0;
  if (const int result = driver.version(&version); result != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(kLibrary, ": cuDriverGetVersion returned ",
                     driver.TextOf(result), "; expected a CUDA driver"));
  }
  return CheckDriverVersion(version);
}

}  // namespace

std::string GpuDriver::TextOf(int result) const {
  const char* text = nullptr;
  if (error_name(result, &text) != 0 || text == nullptr) {
    return absl::StrCat("error ", result);
  }
  return absl::StrCat(text, " (", result, ")");
}

absl::StatusOr<GpuDriver> OpenGpuDriver(const CudaSearchPath& path) {
  const absl::StatusOr<void*> library = OpenCudaLibrary(path, kLibrary);
  if (!library.ok()) {
    return absl::NotFoundError(
        absl::StrCat("found no CUDA driver: ", library.status().message()));
  }
  GpuDriver driver;
  Loader loader(*library);
  loader.Load("cuDriverGetVersion", driver.version);
  loader.Load("cuInit", driver.init);
  loader.Load("cuDeviceGetCount", driver.count);
  loader.Load("cuDeviceGet", driver.device);
  loader.Load("cuDeviceTotalMem_v2", driver.total_memory);
  loader.Load("cuDeviceGetAttribute", driver.attribute);
  loader.Load("cuDeviceGetName", driver.name);
  loader.Load("cuDeviceGetPCIBusId", driver.pci_address);
  loader.Load("cuDeviceGetP2PAttribute", driver.peer_attribute);
  loader.Load("cuGetErrorName", driver.error_name);
  if (absl::Status status = loader.status(); !status.ok()) return status;
  if (absl::Status status = CheckVersion(driver); !status.ok()) return status;
  return driver;
}

}  // namespace partita
