// Kernels of devices that no backend exists for yet: data to plan, prove and
// simulate with. On virtual devices the runtime binds host kernels instead.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_DECLARED_DECLARED_CATALOG_H_
#define PARTITA_KERNELS_DECLARED_DECLARED_CATALOG_H_

#include <vector>

#include "graph/kernel_catalog.h"

namespace partita {

// For CUDA devices. Every op that computes is offered row-major as
// "declared.<family>", the layout that every host kernel that stands in knows.
// Results of elementwise ones may take over their operands' bytes; a host
// kernel that does not allow it stands in behind copies.
class DeclaredCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_DECLARED_DECLARED_CATALOG_H_
