// Several catalogs as one, by kind of device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CATALOG_JOINED_CATALOG_H_
#define PARTITA_KERNELS_CATALOG_JOINED_CATALOG_H_

#include <memory>
#include <vector>

#include "graph/kernel_catalog.h"

namespace partita {

// Thread safety: as KernelCatalog, once everything is added.
class JoinedCatalog : public KernelCatalog {
 public:
  void Add(DeviceKind kind, std::shared_ptr<const KernelCatalog> catalog);

  // The choices of all catalogs of the device's kind: those that are no
  // fallback first, then by seconds, then in the order of addition.
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
  // The images of all catalogs that generate code; Unimplemented if none does.
  absl::StatusOr<std::vector<KernelImage>> BuildImages(
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
