// The kernels of this build, for planners and compilers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_CATALOGS_H_
#define PARTITA_PARTITA_CATALOGS_H_

#include "absl/status/status.h"
#include "graph/kernel_catalog.h"

namespace partita {

// Every catalog of this build, joined by device kind (AddHostCatalogs in
// kernels/catalog/host_kernels.h).
const KernelCatalog& BuiltInCatalog();

// The same without kernels that violate IEEE 754: see
// docs/internals/numerics.md.
const KernelCatalog& BuiltInIeeeCatalog();

// Errors of these catalogs for such a device: see host_kernels.h.
absl::Status CheckBuiltInCatalog(const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_PARTITA_CATALOGS_H_
