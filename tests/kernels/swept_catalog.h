// All kernels that can be bound to a node on this host: those of the catalogs,
// and oneDNN's others in the same layouts, which a plan made elsewhere may
// name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_KERNELS_SWEPT_CATALOG_H_
#define PARTITA_TESTS_KERNELS_SWEPT_CATALOG_H_

#include <string>
#include <vector>

#include "graph/kernel_catalog.h"

namespace partita {

// `all` must outlive it. Includes eval's kernels and oneDNN's reference loops
// only for small nodes.
class SweptCatalog : public KernelCatalog {
 public:
  explicit SweptCatalog(const KernelCatalog& all) : all_(all) {}
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override;

 private:
  const KernelCatalog& all_;
};

// "jit:avx2" for oneDNN's kernels, "cpu.reduce" for ours.
std::string ImplementationOf(const KernelChoice& choice);

// The implementations that are excluded here only by their known faults
// (kernels/cpu/onednn_faults.h), one for each.
std::vector<std::string> ExcludedOf(const OpView& node,
                                    const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_TESTS_KERNELS_SWEPT_CATALOG_H_
