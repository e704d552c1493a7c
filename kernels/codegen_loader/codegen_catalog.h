// Which nodes code is generated for, and the code.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_CATALOG_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_CATALOG_H_

#include <vector>

#include "graph/kernel_catalog.h"

namespace partita {

// "codegen.elementwise" for elementwise nodes, and for fused ones whose body
// has elementwise ops only, on CPUs, if the library's file exists. Choices
// never opens the library. BuildCode makes one code object for the device's
// target, with all nodes that are bound to codegen: native code, which this
// process trusts from then on (kernels/native_code).
class CodegenCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override;
};

// True if the node is bound to a kernel of CodegenCatalog.
bool HasGeneratedKernel(const OpView& node);

// The code object, for the CPU's instruction set, of all nodes that
// CountInstructions accepts, whatever kernels they are bound to; trusted
// likewise. Unimplemented for other devices.
absl::StatusOr<std::vector<CodeObject>> BuildCodeOf(
    absl::Span<const OpView> nodes, const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_CATALOG_H_
