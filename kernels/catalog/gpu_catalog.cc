// The list of catalogs of GPUs.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/gpu_catalog.h"

#include <memory>

#include "kernels/catalog/joined_catalog.h"
#include "kernels/cost_only/cost_only_catalog.h"
#include "kernels/gpu/ptx_catalog.h"

namespace partita {

const KernelCatalog& GpuCatalog() {
  static const JoinedCatalog& catalog = *new JoinedCatalog(
      {std::make_shared<CostOnlyCatalog>(), std::make_shared<PtxCatalog>()});
  return catalog;
}

}  // namespace partita
