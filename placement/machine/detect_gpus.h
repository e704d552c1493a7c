// The NVIDIA GPUs that a driver lists.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_DETECT_GPUS_H_
#define PARTITA_PLACEMENT_MACHINE_DETECT_GPUS_H_

#include <vector>

#include "graph/gpu_split.h"
#include "placement/machine/machine.h"

namespace partita {

// Opens the driver's library at run time; empty if it is missing or lists
// nothing. The devices are named gpu:0, gpu:1, ...
std::vector<MachineDevice> DetectGpus(const char* library = "libcuda.so.1");

// Device gpu:`number`, a share of `gpu`: its part of memory and rates.
MachineDevice ShareOf(const MachineDevice& gpu, int number, GpuSplit split);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_DETECT_GPUS_H_
