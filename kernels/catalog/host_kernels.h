// The kernels of the host: a catalog for compilers, libraries for the runtime.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_HOST_KERNELS_H_
#define PARTITA_KERNELS_CATALOG_HOST_KERNELS_H_

#include <vector>

#include "absl/status/status.h"
#include "graph/kernel_catalog.h"
#include "kernels/kernel.h"

namespace partita {

// Every catalog of CPUs (the list is in host_kernels.cc). Created at the first
// call, never destroyed.
const KernelCatalog& HostCatalog();

// The first error of these catalogs for such a device, which made them offer
// fewer kernels than they should. Call it after all other queries.
absl::Status CheckHostCatalog(const DeviceTraits& device);

// The libraries that bind the kernels of these catalogs, in order of
// preference. Never destroyed.
std::vector<const KernelLibrary*> HostLibraries();

}  // namespace partita

#endif  // PARTITA_KERNELS_CATALOG_HOST_KERNELS_H_
