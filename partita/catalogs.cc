// Joins the catalogs once.
// SPDX-License-Identifier: Apache-2.0

#include "partita/catalogs.h"

#include "kernels/catalog/host_kernels.h"
#include "kernels/catalog/ieee_catalog.h"
#include "kernels/catalog/joined_catalog.h"

namespace partita {

const KernelCatalog& BuiltInCatalog() {
  static const JoinedCatalog& catalog = *[] {
    auto* joined = new JoinedCatalog;
    AddHostCatalogs(*joined);
    return joined;
  }();
  return catalog;
}

absl::Status CheckBuiltInCatalog(const DeviceTraits& device) {
  return CheckHostCatalogs(device);
}

const KernelCatalog& BuiltInIeeeCatalog() {
  static const IeeeCatalog& catalog = *new IeeeCatalog(BuiltInCatalog());
  return catalog;
}

}  // namespace partita
