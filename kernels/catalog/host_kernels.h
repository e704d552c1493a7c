// The kernels that are part of the program: everything that a CPU plan binds,
// except code generated at compile time.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_HOST_KERNELS_H_
#define PARTITA_KERNELS_CATALOG_HOST_KERNELS_H_

#include <vector>

#include "absl/status/status.h"
#include "kernels/catalog/joined_catalog.h"
#include "kernels/kernel.h"

namespace partita {

// Adds the host's own catalogs, for CPUs, and the cost-only catalog, for CUDA.
void AddHostCatalogs(JoinedCatalog& catalog);

// The first error of these catalogs for such a device, which made them offer
// fewer kernels than they should. Call it after all other queries.
absl::Status CheckHostCatalogs(const DeviceTraits& device);

// The libraries that bind the kernels of these catalogs. Never destroyed.
std::vector<const KernelLibrary*> HostLibraries();

}  // namespace partita

#endif  // PARTITA_KERNELS_CATALOG_HOST_KERNELS_H_
