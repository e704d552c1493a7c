// Which GPUs of a machine the driver shows to a process.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_VISIBLE_GPUS_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_VISIBLE_GPUS_H_

#include <cuda.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace partita::emulated_gpu {

// 0, 1, ..., gpus - 1.
std::vector<int> AllGpus(int gpus);

// True if the numbers are those of different GPUs of so many.
bool AreDifferentGpus(const std::vector<int>& numbers, int gpus);

// The identity of a GPU of the machine, and as nvidia-smi prints it:
// "GPU-e0e0e0e0-e0e0-...".
CUuuid UuidOfGpu(int number);
std::string UuidText(const CUuuid& uuid);

// What CUDA_VISIBLE_DEVICES says to a machine of so many GPUs (CUDA C++
// Programming Guide, environment variables; torch/cuda/__init__.py has the
// corners): numbers, or the first digits of identities, separated by commas, in
// the order in which the GPUs are shown. The first that names no GPU ends the
// list. A GPU that is named twice, and digits that fit two, empty it.
std::vector<int> VisibleGpus(absl::string_view text, int gpus);

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_VISIBLE_GPUS_H_
