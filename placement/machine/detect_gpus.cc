// Lists GPUs with the CUDA driver, which is opened with dlopen.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/detect_gpus.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

// The few declarations of cuda.h that are needed here; the numbers are part of
// the driver's stable interface.
constexpr int kClockKilohertz = 13;
constexpr int kMultiprocessors = 16;
constexpr int kMemoryClockKilohertz = 36;
constexpr int kMemoryBusBits = 37;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

struct Driver {
  int (*init)(unsigned flags) = nullptr;
  int (*count)(int* count) = nullptr;
  int (*device)(int* device, int ordinal) = nullptr;
  int (*total_memory)(size_t* bytes, int device) = nullptr;
  int (*attribute)(int* value, int attribute, int device) = nullptr;
};

template <typename Function>
bool Load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool LoadDriver(void* library, Driver& driver) {
  return Load(library, "cuInit", driver.init) &&
         Load(library, "cuDeviceGetCount", driver.count) &&
         Load(library, "cuDeviceGet", driver.device) &&
         Load(library, "cuDeviceTotalMem_v2", driver.total_memory) &&
         Load(library, "cuDeviceGetAttribute", driver.attribute);
}

// f32 lanes of one multiprocessor: 64 in data-centre parts before Hopper, 128
// elsewhere.
int Lanes(int major, int minor) {
  const bool half = major < 8 || (major == 8 && minor == 0);
  return half ? 64 : 128;
}

// Rates from the driver's attributes: two operations (one fused multiply-add)
// per lane and cycle, two transfers per memory clock. Matrix units reach about
// 16 times the f32 rate for bf16 and f16; 8 is conservative.
void EstimateRates(const Driver& driver, int device, DeviceTraits& traits) {
  const auto get = [&](int attribute) {
    int value = 0;
    return driver.attribute(&value, attribute, device) == 0 ? value : 0;
  };
  const int major = get(kCapabilityMajor);
  const int minor = get(kCapabilityMinor);
  traits.isa = absl::StrCat("sm_", major, minor);
  const double f32 = 2.0 * get(kMultiprocessors) * Lanes(major, minor) *
                     get(kClockKilohertz) * 1e3;
  const auto set = [&](DType dtype, double flops) {
    traits.peak_flops[static_cast<int>(dtype)] = std::max(flops, 1e9);
  };
  set(DType::kF32, f32);
  set(DType::kF64, f32 / (Lanes(major, minor) == 64 || major == 9 ? 2 : 64));
  set(DType::kF16, 8 * f32);
  set(DType::kBF16, 8 * f32);
  traits.memory_bandwidth = std::max(
      2.0 * get(kMemoryClockKilohertz) * 1e3 * get(kMemoryBusBits) / 8, 1e9);
  traits.launch_seconds = 4e-6;
}

// The approximate size of driver context, library handles and loaded code.
constexpr int64_t kReserve = int64_t{1} << 30;

}  // namespace

std::vector<MachineDevice> DetectGpus(const char* library) {
  std::vector<MachineDevice> gpus;
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);  // kept open
  Driver driver;
  int count = 0;
  if (handle == nullptr || !LoadDriver(handle, driver)) return gpus;
  if (driver.init(0) != 0 || driver.count(&count) != 0) return gpus;
  for (int i = 0; i < count; ++i) {
    int id = 0;
    size_t memory = 0;
    if (driver.device(&id, i) != 0) continue;
    if (driver.total_memory(&memory, id) != 0) continue;
    MachineDevice gpu;
    gpu.traits.name = absl::StrCat("gpu:", i);
    gpu.traits.kind = DeviceKind::kCuda;
    gpu.memory = static_cast<int64_t>(memory);
    gpu.reserve = std::min(kReserve, gpu.memory / 4);
    EstimateRates(driver, id, gpu.traits);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

MachineDevice ShareOf(const MachineDevice& gpu, int number, GpuSplit split) {
  MachineDevice share = gpu;
  share.traits.name = absl::StrCat("gpu:", number);
  for (double& flops : share.traits.peak_flops) flops /= split.shares;
  share.traits.memory_bandwidth /= split.shares;
  // What is free of the GPU is divided: its reserve is outside all shares.
  const int64_t usable = split.BytesOf(gpu.usable());
  share.memory = split.BytesOf(gpu.memory);
  share.reserve = share.memory - usable;
  return share;
}

}  // namespace partita
