// The kernels of this build, as planners and compilers ask for them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_CATALOGS_H_
#define PARTITA_PARTITA_CATALOGS_H_

#include "absl/status/status.h"
#include "graph/kernel_catalog.h"

namespace partita {

// Every catalog of this build, joined by device kind: oneDNN, generated code
// and eval for the CPU, the declared catalog for cuda.
const KernelCatalog& BuiltInCatalog();

// The same without kernels that stray from IEEE 754: see
// docs/internals/numerics.md.
const KernelCatalog& BuiltInIeeeCatalog();

// What went wrong when they were asked about such a device: see host_kernels.h.
absl::Status CheckBuiltInCatalog(const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_PARTITA_CATALOGS_H_
