// Asks the driver for its GPUs, and for the routes between them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/detect_gpus.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "placement/machine/gpu_driver.h"
#include "placement/machine/nvlink_counter.h"

namespace partita {
namespace {

// f32 lanes of one multiprocessor: 64 in data-centre parts before Hopper, 128
// elsewhere.
int Lanes(int major, int minor) {
  const bool half = major < 8 || (major == 8 && minor == 0);
  return half ? 64 : 128;
}

// Rates from the driver's attributes: two operations (one fused multiply-add)
// per lane and cycle, two transfers per memory clock. Matrix units reach about
// 16 times the f32 rate for bf16 and f16; 8 is conservative.
void EstimateRates(const GpuDriver& driver, int id, DetectedGpu& gpu) {
  const auto get = [&](GpuDriver::Attribute attribute) {
    int value = 0;
    return driver.attribute(&value, attribute, id) == 0 ? value : 0;
  };
  const int major = get(GpuDriver::kCapabilityMajor);
  const int minor = get(GpuDriver::kCapabilityMinor);
  gpu.capability_major = major;
  gpu.capability_minor = minor;
  DeviceTraits& traits = gpu.device.traits;
  traits.isa = absl::StrCat("sm_", major, minor);
  const double f32 = 2.0 * get(GpuDriver::kMultiprocessors) *
                     Lanes(major, minor) * get(GpuDriver::kClockKilohertz) *
                     1e3;
  const auto set = [&](DType dtype, double flops) {
    traits.peak_flops[static_cast<int>(dtype)] = std::max(flops, 1e9);
  };
  set(DType::kF32, f32);
  set(DType::kF64, f32 / (Lanes(major, minor) == 64 || major == 9 ? 2 : 64));
  set(DType::kF16, 8 * f32);
  set(DType::kBF16, 8 * f32);
  traits.memory_bandwidth =
      std::max(2.0 * get(GpuDriver::kMemoryClockKilohertz) * 1e3 *
                   get(GpuDriver::kMemoryBusBits) / 8,
               1e9);
  traits.launch_seconds = 4e-6;
}

// The approximate size of driver context, library handles and loaded code.
constexpr int64_t kReserve = int64_t{1} << 30;

// What the driver writes at an address; empty if it does not.
template <typename Call>
std::string TextBy(Call call, int id) {
  std::array<char, 256> text{};
  if (call(text.data(), static_cast<int>(text.size()), id) != 0) return "";
  text.back() = '\0';
  return text.data();
}

// " (cuInit: CUDA_ERROR_NO_DEVICE (100))".
std::string Failure(const GpuDriver& driver, const char* call, int result) {
  return absl::StrCat(" (", call, ": ", driver.TextOf(result), ")");
}

// Sets the driver's number of the GPU.
absl::StatusOr<DetectedGpu> Describe(const GpuDriver& driver, int number,
                                     int& id) {
  const auto missing = [&](const char* call, int result) {
    return absl::UnavailableError(
        absl::StrCat("the driver does not describe GPU ", number,
                     Failure(driver, call, result),
                     "; it and those behind it are left out"));
  };
  if (const int result = driver.device(&id, number); result != 0) {
    return missing("cuDeviceGet", result);
  }
  size_t memory = 0;
  if (const int result = driver.total_memory(&memory, id); result != 0) {
    return missing("cuDeviceTotalMem", result);
  }
  DetectedGpu gpu;
  gpu.model = TextBy(driver.name, id);
  gpu.pci_address = TextBy(driver.pci_address, id);
  gpu.device.traits.name = absl::StrCat("gpu:", number);
  gpu.device.traits.kind = DeviceKind::kCuda;
  gpu.device.memory = static_cast<int64_t>(memory);
  gpu.device.reserve = std::min(kReserve, gpu.device.memory / 4);
  EstimateRates(driver, id, gpu);
  return gpu;
}

// The pair as the driver alone describes it.
GpuPair PairOf(const GpuDriver& driver, const std::vector<int>& ids, int one,
               int two) {
  const auto get = [&](GpuDriver::PeerAttribute attribute) {
    const auto from_to = [&](int from, int to) {
      int value = 0;
      return driver.peer_attribute(&value, attribute, ids[from], ids[to]) == 0
                 ? value
                 : 0;
    };
    return std::pair(from_to(one, two), from_to(two, one));
  };
  GpuPair pair = {.one = one, .two = two};
  const auto [access, access_back] = get(GpuDriver::kAccessSupported);
  if (access == 0 || access_back == 0) return pair;
  const auto [atomics, atomics_back] = get(GpuDriver::kNativeAtomics);
  const auto [rank, rank_back] = get(GpuDriver::kPerformanceRank);
  pair.native_atomics = atomics != 0 && atomics_back != 0;
  pair.performance_rank = std::max(rank, rank_back);
  pair.route = pair.native_atomics ? GpuRoute::kNvlink : GpuRoute::kPcie;
  return pair;
}

// Replaces the guess by what NVML counts.
void CountNvlinks(const CudaSearchPath& path, GpuInventory& inventory) {
  const auto is_direct = [](const GpuPair& pair) {
    return pair.route != GpuRoute::kThroughHost;
  };
  if (absl::c_none_of(inventory.pairs, is_direct)) return;
  const absl::StatusOr<NvlinkCounter> counter = NvlinkCounter::Open(path);
  if (!counter.ok()) {
    inventory.why_no_nvlinks = std::string(counter.status().message());
    return;
  }
  for (GpuPair& pair : inventory.pairs) {
    if (!is_direct(pair)) continue;
    const absl::StatusOr<int> links =
        counter->Between(inventory.gpus[pair.one].pci_address,
                         inventory.gpus[pair.two].pci_address);
    if (!links.ok()) {
      inventory.why_no_nvlinks = std::string(links.status().message());
      continue;
    }
    pair.nvlinks = *links;
    pair.route = *links > 0 ? GpuRoute::kNvlink : GpuRoute::kPcie;
  }
}

absl::Status ShowsNone(absl::string_view why) {
  const char* const shown = std::getenv("CUDA_VISIBLE_DEVICES");
  return absl::UnavailableError(absl::StrCat(
      "the driver shows no GPU", why,
      shown == nullptr
          ? ""
          : absl::StrCat("; CUDA_VISIBLE_DEVICES=", shown, " may hide them")));
}

// At least 1.
absl::StatusOr<int> NumberOfGpus(const GpuDriver& driver) {
  if (const int result = driver.init(0); result != 0) {
    return ShowsNone(Failure(driver, "cuInit", result));
  }
  int count = 0;
  if (const int result = driver.count(&count); result != 0) {
    return ShowsNone(Failure(driver, "cuDeviceGetCount", result));
  }
  if (count <= 0) return ShowsNone("");
  return count;
}

// GPUs in the driver's order, and its numbers of them. A plan names a GPU by
// its place: none is left out between others.
std::vector<int> AddGpus(const GpuDriver& driver, int count,
                         GpuInventory& inventory) {
  std::vector<int> ids;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    absl::StatusOr<DetectedGpu> gpu =
        Describe(driver, ordinal, ids.emplace_back());
    if (!gpu.ok()) {
      inventory.why_not_all = std::string(gpu.status().message());
      break;
    }
    inventory.gpus.push_back(*std::move(gpu));
  }
  if (inventory.gpus.empty()) {
    inventory.why_no_gpus = std::exchange(inventory.why_not_all, "");
  }
  return ids;
}

}  // namespace

bool BuiltForGpus() {
#ifdef PARTITA_HAVE_CUDA_HEADERS
  return true;
#else
  return false;
#endif
}

bool RunsPlans(const DetectedGpu& gpu) {
  return !CodeTargetOf(gpu.device.traits).empty();
}

GpuInventory DetectGpus(const CudaSearchPath& path) {
  GpuInventory inventory;
  const absl::StatusOr<GpuDriver> driver = OpenGpuDriver(path);
  if (!driver.ok()) {
    inventory.why_no_gpus = std::string(driver.status().message());
    return inventory;
  }
  const absl::StatusOr<int> shown = NumberOfGpus(*driver);
  if (!shown.ok()) {
    inventory.why_no_gpus = std::string(shown.status().message());
    return inventory;
  }
  const std::vector<int> ids = AddGpus(*driver, *shown, inventory);
  const int count = static_cast<int>(inventory.gpus.size());
  for (int one = 0; one < count; ++one) {
    for (int two = one + 1; two < count; ++two) {
      inventory.pairs.push_back(PairOf(*driver, ids, one, two));
    }
  }
  CountNvlinks(path, inventory);
  return inventory;
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
