// The machine that this program runs on.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_DETECT_HOST_H_
#define PARTITA_PLACEMENT_MACHINE_DETECT_HOST_H_

#include "graph/gpu_split.h"
#include "placement/machine/detect_gpus.h"
#include "placement/machine/machine.h"

namespace partita {

struct DetectOptions {
  // Ask the NVIDIA driver, if there is one. By default, if this program runs
  // plans on GPUs.
  bool gpus = BuiltForGpus();
  GpuSplit split;  // list the shares of each GPU as devices
};

// `cpu:0` with the cores and the memory that this process may use (affinity
// mask, cgroup limits), and `gpu:0` ... in the driver's order, which honours
// CUDA_VISIBLE_DEVICES. GPUs that no plan runs on (detect_gpus.h) are left out,
// and the others keep their numbers. The devices share those cores. Never
// fails; without a driver, or with one that is too old for plans, there are no
// GPUs.
//
// A share of a GPU has its part of the memory and of the rates, as if all were
// busy at once; between two of one GPU, a link has half of its memory
// bandwidth.
//
// Rates are estimates from instruction set, cores and nominal clocks, not
// measurements: the same host gives the same machine each time, and so the same
// plans. A machine file with better figures replaces them.
//
// GPUs are looked for in ProcessCudaPath. The link of two GPUs is that of their
// route: NVLink, by the number of links; PCIe; or the way through the host.
Machine DetectHost(const DetectOptions& options = {});

// The same, with these GPUs.
Machine HostMachine(const GpuInventory& gpus, GpuSplit split);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_DETECT_HOST_H_
