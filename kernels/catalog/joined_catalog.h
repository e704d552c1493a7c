// Several catalogs as one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_JOINED_CATALOG_H_
#define PARTITA_KERNELS_CATALOG_JOINED_CATALOG_H_

#include <memory>
#include <utility>
#include <vector>

#include "graph/kernel_catalog.h"

namespace partita {

// Thread safety: like KernelCatalog.
class JoinedCatalog : public KernelCatalog {
 public:
  using Catalogs = std::vector<std::shared_ptr<const KernelCatalog>>;

  explicit JoinedCatalog(Catalogs catalogs) : catalogs_(std::move(catalogs)) {}

  // The choices of all catalogs: fallbacks last, then by seconds, then in the
  // order of the catalogs.
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
  // The code objects of all catalogs that generate code; Unimplemented if none
  // does.
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override;

 private:
  const Catalogs catalogs_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CATALOG_JOINED_CATALOG_H_
