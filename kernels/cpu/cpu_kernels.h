// Kernels of our own for ops that oneDNN lacks or computes slowly.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_CPU_KERNELS_H_
#define PARTITA_KERNELS_CPU_CPU_KERNELS_H_

#include <memory>
#include <vector>

#include "graph/kernel_catalog.h"
#include "kernels/kernel.h"

namespace partita {

// Offers the families of cpu_family.h: "cpu.move", "cpu.reduce", ... No result
// depends on the number of threads.
class CpuCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
};

class CpuLibrary : public KernelLibrary {
 public:
  absl::string_view name() const override { return "cpu"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_CPU_KERNELS_H_
