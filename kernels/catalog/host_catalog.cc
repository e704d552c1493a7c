// Joins the host's catalogs once.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/host_catalog.h"

#include "kernels/catalog/host_kernels.h"

namespace partita {

const JoinedCatalog& HostCatalog() {
  static const JoinedCatalog& catalog = []() -> JoinedCatalog& {
    auto* joined = new JoinedCatalog;
    AddHostCatalogs(*joined);
    return *joined;
  }();
  return catalog;
}

}  // namespace partita
