// The machine that this program runs on.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_DETECT_HOST_H_
#define PARTITA_PLACEMENT_MACHINE_DETECT_HOST_H_

#include "placement/machine/machine.h"

namespace partita {

struct DetectOptions {
  bool gpus = true;  // ask the NVIDIA driver, if there is one
};

// `cpu:0` with the cores and the memory that this process may use (affinity
// mask, cgroup limits), and `gpu:0` ... in the driver's order, which honours
// CUDA_VISIBLE_DEVICES. Never fails; without a driver there are no GPUs.
//
// Rates are estimates from instruction set, cores and nominal clocks, not
// measurements: the same host gives the same machine each time, and so the same
// plans. A machine file with better figures replaces them.
Machine DetectHost(const DetectOptions& options = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_DETECT_HOST_H_
