// The catalogs of GPUs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_GPU_CATALOG_H_
#define PARTITA_KERNELS_CATALOG_GPU_CATALOG_H_

#include "graph/kernel_catalog.h"

namespace partita {

// Cost-only kernels, and PTX for the nodes that are bound to generated kernels.
// Created at the first call, never destroyed.
const KernelCatalog& GpuCatalog();

}  // namespace partita

#endif  // PARTITA_KERNELS_CATALOG_GPU_CATALOG_H_
