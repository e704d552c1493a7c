// The host's catalogs as one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_HOST_CATALOG_H_
#define PARTITA_KERNELS_CATALOG_HOST_CATALOG_H_

#include "kernels/catalog/joined_catalog.h"

namespace partita {

// Created at the first call and never destroyed.
const JoinedCatalog& HostCatalog();

}  // namespace partita

#endif  // PARTITA_KERNELS_CATALOG_HOST_CATALOG_H_
