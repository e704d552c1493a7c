// The kernels of this build, as planners and compilers ask for them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_CATALOGS_H_
#define PARTITA_PARTITA_CATALOGS_H_

#include "graph/kernel_catalog.h"

namespace partita {

// Every catalog of this build, joined by device kind: oneDNN, generated code
// and eval for the CPU, the declared catalog for cuda.
const KernelCatalog& BuiltInCatalog();

// The same without kernels that stray from IEEE 754: see docs/numerics.md.
const KernelCatalog& BuiltInIeeeCatalog();

}  // namespace partita

#endif  // PARTITA_PARTITA_CATALOGS_H_
