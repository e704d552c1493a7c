// What code is generated for, and the code.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_CATALOG_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_CATALOG_H_

#include <vector>

#include "graph/kernel_catalog.h"

namespace partita {

// "codegen.elementwise" for elementwise nodes and fused ones whose body has
// elementwise ops only, on CPUs, where the library is. Choices never opens it.
// BuildImages makes one image, of all nodes that are bound to codegen, and this
// process trusts it from then on (kernels/image).
class CodegenCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
  absl::StatusOr<std::vector<KernelImage>> BuildImages(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override;
};

// The image of nodes that CountInstructions takes, whatever kernels they are
// bound to, for the device's instruction set; trusted likewise.
absl::StatusOr<std::vector<KernelImage>> BuildImagesOf(
    absl::Span<const OpView> nodes, const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_CATALOG_H_
