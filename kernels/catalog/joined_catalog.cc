// Asking several catalogs.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/joined_catalog.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace partita {

void JoinedCatalog::Add(DeviceKind kind,
                        std::shared_ptr<const KernelCatalog> catalog) {
  entries_.push_back({kind, std::move(catalog)});
}

std::vector<KernelChoice> JoinedCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  std::vector<KernelChoice> all;
  for (const Entry& entry : entries_) {
    if (entry.kind != device.kind) continue;
    std::vector<KernelChoice> choices = entry.catalog->Choices(node, device);
    std::move(choices.begin(), choices.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const KernelChoice& a, const KernelChoice& b) {
                     if (a.fallback != b.fallback) return b.fallback;
                     return a.seconds < b.seconds;
                   });
  return all;
}

absl::StatusOr<std::vector<KernelImage>> JoinedCatalog::BuildImages(
    absl::Span<const OpView> nodes, const DeviceTraits& device) const {
  std::vector<KernelImage> all;
  bool generates = false;
  for (const Entry& entry : entries_) {
    if (entry.kind != device.kind) continue;
    absl::StatusOr<std::vector<KernelImage>> images =
        entry.catalog->BuildImages(nodes, device);
    if (absl::IsUnimplemented(images.status())) continue;
    if (!images.ok()) return images.status();
    generates = true;
    std::move(images->begin(), images->end(), std::back_inserter(all));
  }
  if (!generates) {
    return absl::UnimplementedError(
        "found a request for kernel images; expected a catalog that generates "
        "code for this kind of device");
  }
  return all;
}

}  // namespace partita
