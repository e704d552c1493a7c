// A catalog without kernels that violate IEEE 754.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_IEEE_CATALOG_H_
#define PARTITA_KERNELS_CATALOG_IEEE_CATALOG_H_

#include <vector>

#include "graph/kernel_catalog.h"

namespace partita {

// True if the choice's arithmetic states that NaN or infinities differ from
// eval's: see docs/internals/numerics.md.
bool ViolatesIeee(const KernelChoice& choice);

// Offers the choices of `all` except such ones. `all` must outlive it.
class IeeeCatalog : public KernelCatalog {
 public:
  explicit IeeeCatalog(const KernelCatalog& all) : all_(all) {}
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override;

 private:
  const KernelCatalog& all_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CATALOG_IEEE_CATALOG_H_
