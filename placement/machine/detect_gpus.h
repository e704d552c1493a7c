// The NVIDIA GPUs that a driver lists, and what is between them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_DETECT_GPUS_H_
#define PARTITA_PLACEMENT_MACHINE_DETECT_GPUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/gpu_split.h"
#include "placement/machine/machine.h"
#include "third_party/cuda_search/library_path.h"

namespace partita {

struct DetectedGpu {
  MachineDevice device;     // gpu:0, gpu:1, ...
  std::string model;        // "NVIDIA H100 80GB HBM3"
  std::string pci_address;  // "0000:17:00.0"; empty: the driver reports none
  int capability_major = 0;
  int capability_minor = 0;
};

// True if this program runs plans on GPUs: it was built with CUDA's headers.
bool BuiltForGpus();

// True if code is generated for the GPU (graph/device_kind_traits.h), which it
// is from sm_80 on. No plan runs on others.
bool RunsPlans(const DetectedGpu& gpu);

// How bytes get from one GPU to another.
enum class GpuRoute : uint8_t {
  kNvlink,       // directly, over NVLink
  kPcie,         // directly, over PCIe
  kThroughHost,  // neither can access the other's memory
};

// Two GPUs, by index, `one` before `two`.
struct GpuPair {
  int one = 0;
  int two = 0;
  GpuRoute route = GpuRoute::kThroughHost;
  int nvlinks = 0;  // of kNvlink; 0: their number is not known
  // As the driver reports them for a direct route: the rank of its performance,
  // and whether atomic operations work over it.
  int performance_rank = 0;
  bool native_atomics = false;
};

struct GpuInventory {
  std::vector<DetectedGpu> gpus;
  std::vector<GpuPair> pairs;  // each once
  std::string why_no_gpus;     // one sentence; empty if there are some
  // Why there are fewer than the driver counts; empty: there are not.
  std::string why_not_all;
  // Why NVLinks are not counted; empty if they are, or no pair may have any. A
  // direct route with native atomics then counts as NVLink.
  std::string why_no_nvlinks;
};

// Opens the driver's library, and NVML for pairs of GPUs that are peers. Never
// fails: without a driver, or with one that is too old for plans, there are no
// GPUs.
GpuInventory DetectGpus(const CudaSearchPath& path);

// Device gpu:`number`, a share of `gpu`: its part of memory and rates.
MachineDevice ShareOf(const MachineDevice& gpu, int number, GpuSplit split);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_DETECT_GPUS_H_
