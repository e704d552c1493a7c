// Small machines for tests, built in code.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_SAMPLE_MACHINES_H_
#define PARTITA_PLACEMENT_MACHINE_SAMPLE_MACHINES_H_

#include <cstdint>
#include <string>

#include "placement/machine/machine.h"

namespace partita {

// A device of round figures: 1e12 f32 operations and 1e11 bytes a second, no
// launch cost.
MachineDevice SampleDevice(std::string name, DeviceKind kind, int64_t memory);

// `cpu:0` (1e11 operations a second, 1 TiB) and `gpu:0` ... (1e12 operations a
// second, `gpu_memory` bytes each). Every pair has a link of 1e10 bytes a
// second without latency.
Machine CpuAndGpus(int gpus, int64_t gpu_memory);

// `cpu:0` ... `cpu:N-1`, identical, with links as above.
Machine EqualCpus(int cpus, int64_t memory);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_SAMPLE_MACHINES_H_
