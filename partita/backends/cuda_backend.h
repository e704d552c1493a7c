// The row of NVIDIA GPUs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_BACKENDS_CUDA_BACKEND_H_
#define PARTITA_PARTITA_BACKENDS_CUDA_BACKEND_H_

#include "partita/backends/backend.h"

namespace partita {

// The device NAME:N is the GPU with number N of those that the driver shows, or
// a share of one (graph/gpu_split.h). A build without the headers of CUDA makes
// plans for such devices, and runs none.
extern const Backend kCudaBackend;

}  // namespace partita

#endif  // PARTITA_PARTITA_BACKENDS_CUDA_BACKEND_H_
