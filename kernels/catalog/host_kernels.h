// The kernels that are part of the program: all that a CPU plan binds, code
// generated at compile time left aside.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_HOST_KERNELS_H_
#define PARTITA_KERNELS_CATALOG_HOST_KERNELS_H_

#include <vector>

#include "absl/status/status.h"
#include "kernels/catalog/joined_catalog.h"
#include "kernels/kernel.h"

namespace partita {

// Adds the host's own catalogs, for CPUs, and the declared one, for CUDA.
void AddHostCatalogs(JoinedCatalog& catalog);

// What went wrong when these catalogs were asked about such a device, which
// then offered less than they should: after everything is asked.
absl::Status CheckHostCatalogs(const DeviceTraits& device);

// The libraries that bind what these catalogs name; they live for ever.
std::vector<const KernelLibrary*> HostLibraries();

}  // namespace partita

#endif  // PARTITA_KERNELS_CATALOG_HOST_KERNELS_H_
