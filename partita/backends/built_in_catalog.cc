// Asks the backend of each device.
// SPDX-License-Identifier: Apache-2.0

#include "partita/backends/built_in_catalog.h"

#include <vector>

#include "kernels/catalog/ieee_catalog.h"
#include "partita/backends/backend.h"

namespace partita {
namespace {

class CatalogOfBackends : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override {
    return BackendOf(device.kind).catalog().Choices(node, device);
  }
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override {
    return BackendOf(device.kind).catalog().BuildCode(nodes, device);
  }
};

}  // namespace

const KernelCatalog& BuiltInCatalog() {
  static const CatalogOfBackends& catalog = *new CatalogOfBackends;
  return catalog;
}

const KernelCatalog& BuiltInIeeeCatalog() {
  static const IeeeCatalog& catalog = *new IeeeCatalog(BuiltInCatalog());
  return catalog;
}

absl::Status CheckBuiltInCatalog(const DeviceTraits& device) {
  const Backend& backend = BackendOf(device.kind);
  if (backend.check_catalog == nullptr) return absl::OkStatus();
  return backend.check_catalog(device);
}

}  // namespace partita
