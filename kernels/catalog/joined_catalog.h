// Several catalogs as one, by device kind.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_JOINED_CATALOG_H_
#define PARTITA_KERNELS_CATALOG_JOINED_CATALOG_H_

#include <memory>
#include <vector>

#include "graph/kernel_catalog.h"

namespace partita {

// Thread safety: like KernelCatalog, once all catalogs are added.
class JoinedCatalog : public KernelCatalog {
 public:
  void Add(DeviceKind kind, std::shared_ptr<const KernelCatalog> catalog);

  // The choices of all catalogs for the device's kind: fallbacks last, then by
  // seconds, then in the order of addition.
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
  // The code objects of all catalogs that generate code; Unimplemented if none
  // does.
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override;

 private:
  struct Entry {
    DeviceKind kind;
    std::shared_ptr<const KernelCatalog> catalog;
  };
  std::vector<Entry> entries_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CATALOG_JOINED_CATALOG_H_
