// Cost-only kernels, for devices that no kernel of this build runs on: data for
// planning, proof and simulation. On virtual devices the runtime binds host
// kernels instead.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_COST_ONLY_COST_ONLY_CATALOG_H_
#define PARTITA_KERNELS_COST_ONLY_COST_ONLY_CATALOG_H_

#include <vector>

#include "graph/kernel_catalog.h"

namespace partita {

// For GPUs for which no code is generated, as they have no instruction set or
// one older than sm_80. Every op that computes is offered as
// "cost_only.<family>",
// in row-major layout, which every host kernel that emulates it supports.
// Elementwise results may overwrite their operands; if the host kernel does not
// allow that, the runtime adds copies.
class CostOnlyCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_COST_ONLY_COST_ONLY_CATALOG_H_
