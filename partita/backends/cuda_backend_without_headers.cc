// Where the headers of CUDA are missing: kernels to plan for.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/gpu_catalog.h"
#include "partita/backends/cuda_backend.h"

namespace partita {

constinit const Backend kCudaBackend = {
    .name = "cuda", .kind = DeviceKind::kCuda, .catalog = GpuCatalog};

}  // namespace partita
