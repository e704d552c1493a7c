// Asks NVML for each link of a GPU.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/nvlink_counter.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace partita {

// nvml.h, nvmlPciInfo_t of version 3.
struct NvmlPciInfo {
  char legacy_address[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char address[32];
};

namespace {

constexpr char kLibrary[] = "libnvidia-ml.so.1";

// More than NVML_NVLINK_MAX_LINKS of any version: NVML refuses numbers that a
// GPU does not have.
constexpr unsigned kMostLinks = 64;
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlTypeSwitch = 2;  // NVML_NVLINK_DEVICE_TYPE_SWITCH

// Domains are written with four or eight digits.
bool IsAt(const NvmlPciInfo& info, const std::string& address) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  return std::sscanf(address.c_str(), "%x:%x:%x", &domain, &bus, &device) ==
             3 &&
         domain == info.domain && bus == info.bus && device == info.device;
}

}  // namespace

absl::StatusOr<NvlinkCounter> NvlinkCounter::Open(const CudaSearchPath& path) {
  const absl::StatusOr<void*> library = OpenCudaLibrary(path, kLibrary);
  if (!library.ok()) {
    return absl::NotFoundError(
        absl::StrCat("found no NVML: ", library.status().message()));
  }
  NvlinkCounter counter;
  const char* missing = nullptr;
  const auto load = [&](const char* name, auto& function) {
    using Function = std::remove_reference_t<decltype(function)>;
    function = reinterpret_cast<Function>(dlsym(*library, name));
    if (function == nullptr && missing == nullptr) missing = name;
  };
  load("nvmlInit_v2", counter.init_);
  load("nvmlDeviceGetHandleByPciBusId_v2", counter.find_);
  load("nvmlDeviceGetNvLinkState", counter.state_);
  load("nvmlDeviceGetNvLinkRemoteDeviceType", counter.remote_type_);
  load("nvmlDeviceGetNvLinkRemotePciInfo_v2", counter.remote_pci_);
  if (missing != nullptr) {
    return absl::NotFoundError(
        absl::StrCat(kLibrary, ": found no ", missing, "; expected NVML"));
  }
  if (const int result = counter.init_(); result != kNvmlSuccess) {
    return absl::UnavailableError(
        absl::StrCat(kLibrary, ": nvmlInit_v2 returned error ", result));
  }
  return counter;
}

absl::StatusOr<NvmlDevice*> NvlinkCounter::Find(
    const std::string& address) const {
  NvmlDevice* device = nullptr;
  if (const int result = find_(address.c_str(), &device);
      result != kNvmlSuccess) {
    return absl::NotFoundError(absl::StrCat(kLibrary, ": found no GPU at ",
                                            address, " (error ", result, ")"));
  }
  return device;
}

NvlinkCounter::Links NvlinkCounter::LinksOf(NvmlDevice* device,
                                            const std::string& peer) const {
  Links links;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    int active = 0;
    // It refuses numbers that the GPU does not have, also between others.
    if (state_(device, link, &active) != kNvmlSuccess) continue;
    if (active == 0) continue;
    int type = 0;
    if (remote_type_(device, link, &type) == kNvmlSuccess &&
        type == kNvmlTypeSwitch) {
      ++links.to_switches;
      continue;
    }
    NvmlPciInfo remote = {};
    if (remote_pci_(device, link, &remote) == kNvmlSuccess &&
        IsAt(remote, peer)) {
      ++links.to_peer;
    }
  }
  return links;
}

absl::StatusOr<int> NvlinkCounter::Between(const std::string& one,
                                           const std::string& two) const {
  const absl::StatusOr<NvmlDevice*> first = Find(one);
  if (!first.ok()) return first.status();
  const absl::StatusOr<NvmlDevice*> second = Find(two);
  if (!second.ok()) return second.status();
  const Links from_first = LinksOf(*first, two);
  const Links from_second = LinksOf(*second, one);
  return from_first.to_peer +
         std::min(from_first.to_switches, from_second.to_switches);
}

}  // namespace partita
