// The kernels of all backends, for compilers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_BACKENDS_BUILT_IN_CATALOG_H_
#define PARTITA_PARTITA_BACKENDS_BUILT_IN_CATALOG_H_

#include "absl/status/status.h"
#include "graph/device_traits.h"
#include "graph/kernel_catalog.h"

namespace partita {

// Asks the catalog of the device's backend. Never destroyed.
const KernelCatalog& BuiltInCatalog();

// The same without kernels that violate IEEE 754: see
// docs/internals/numerics.md.
const KernelCatalog& BuiltInIeeeCatalog();

// The first error of that backend's catalog (Backend::check_catalog). Call it
// after all other queries.
absl::Status CheckBuiltInCatalog(const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_PARTITA_BACKENDS_BUILT_IN_CATALOG_H_
