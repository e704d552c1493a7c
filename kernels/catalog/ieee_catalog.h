// A catalog without the kernels that stray from IEEE 754.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_IEEE_CATALOG_H_
#define PARTITA_KERNELS_CATALOG_IEEE_CATALOG_H_

#include <vector>

#include "graph/kernel_catalog.h"

namespace partita {

// True if the choice's arithmetic says that NaN or infinities come out
// otherwise than eval's: see docs/internals/numerics.md.
bool StraysFromIeee(const KernelChoice& choice);

// Offers what `all` offers but for such choices; `all` must outlive it.
class IeeeCatalog : public KernelCatalog {
 public:
  explicit IeeeCatalog(const KernelCatalog& all) : all_(all) {}
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
  absl::StatusOr<std::vector<KernelImage>> BuildImages(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override;

 private:
  const KernelCatalog& all_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CATALOG_IEEE_CATALOG_H_
