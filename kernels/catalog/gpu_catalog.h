// The catalogs of GPUs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_GPU_CATALOG_H_
#define PARTITA_KERNELS_CATALOG_GPU_CATALOG_H_

#include "graph/kernel_catalog.h"

namespace partita {

// Generated kernels for GPUs that run PTX, and cost-only ones for all others: a
// GPU without an instruction set, or older than sm_80. Created at the first
// call, never destroyed.
const KernelCatalog& GpuCatalog();

}  // namespace partita

#endif  // PARTITA_KERNELS_CATALOG_GPU_CATALOG_H_
