// Every op's eval as a kernel: correct, slow, and always available.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_REFERENCE_REFERENCE_KERNELS_H_
#define PARTITA_KERNELS_REFERENCE_REFERENCE_KERNELS_H_

#include <memory>
#include <vector>

#include "graph/kernel_catalog.h"
#include "kernels/kernel.h"

namespace partita {

// Workspace bytes of "reference.eval" for the node in the layouts of its types:
// row-major copies of values in other layouts, and the intermediates of a fused
// body.
absl::StatusOr<int64_t> ReferenceWorkspace(const OpView& node);

// Binds any node that has an eval, in any layouts. A bound kernel copies what
// it needs of the node but reads constants from the module's literal pool,
// which must outlive it.
class ReferenceLibrary : public KernelLibrary {
 public:
  absl::string_view name() const override { return "reference"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override;
};

// One choice for each node, for CPUs: row-major, marked as fallback. A
// `reorder` is offered from its operand's present layout to the one that it
// names.
class ReferenceCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_REFERENCE_REFERENCE_KERNELS_H_
