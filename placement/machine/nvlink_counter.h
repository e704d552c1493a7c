// Counts the NVLinks between GPUs, by NVIDIA's management library.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_NVLINK_COUNTER_H_
#define PARTITA_PLACEMENT_MACHINE_NVLINK_COUNTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "third_party/cuda_search/library_path.h"

namespace partita {

struct NvmlDevice;   // nvmlDevice_t points to one
struct NvmlPciInfo;  // nvmlPciInfo_t

// NVML (libnvidia-ml.so.1) comes with the driver, and may be missing, for
// example in a container. It names GPUs by their PCI addresses and heeds no
// CUDA_VISIBLE_DEVICES. Results are nvmlReturn_t: 0 is success.
class NvlinkCounter {
 public:
  // NotFound, in one sentence, without NVML, or a function of it; Unavailable
  // if it does not start. The library stays open.
  static absl::StatusOr<NvlinkCounter> Open(const CudaSearchPath& path);

  // The active links from the GPU at one PCI address ("0000:01:00.0") to that
  // at the other: direct ones, or to switches that both have links to (then the
  // smaller number). NotFound if NVML does not know an address.
  absl::StatusOr<int> Between(const std::string& one,
                              const std::string& two) const;

 private:
  absl::StatusOr<NvmlDevice*> Find(const std::string& address) const;

  // Of one GPU.
  struct Links {
    int to_peer = 0;
    int to_switches = 0;
  };
  Links LinksOf(NvmlDevice* device, const std::string& peer) const;

  int (*init_)() = nullptr;
  int (*find_)(const char* address, NvmlDevice** device) = nullptr;
  int (*state_)(NvmlDevice* device, unsigned link, int* active) = nullptr;
  int (*remote_type_)(NvmlDevice* device, unsigned link, int* type) = nullptr;
  int (*remote_pci_)(NvmlDevice* device, unsigned link,
                     NvmlPciInfo* info) = nullptr;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_NVLINK_COUNTER_H_
