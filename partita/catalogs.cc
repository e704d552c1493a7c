// The host's catalogs, under the names that compilers know.
// SPDX-License-Identifier: Apache-2.0

#include "partita/catalogs.h"

#include "kernels/catalog/host_catalog.h"
#include "kernels/catalog/host_kernels.h"
#include "kernels/catalog/ieee_catalog.h"

namespace partita {

const KernelCatalog& BuiltInCatalog() { return HostCatalog(); }

absl::Status CheckBuiltInCatalog(const DeviceTraits& device) {
  return CheckHostCatalogs(device);
}

const KernelCatalog& BuiltInIeeeCatalog() {
  static const IeeeCatalog& catalog = *new IeeeCatalog(BuiltInCatalog());
  return catalog;
}

}  // namespace partita
