// Queries several catalogs.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/joined_catalog.h"

#include <iterator>
#include <utility>

namespace partita {

std::vector<KernelChoice> JoinedCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  std::vector<KernelChoice> all;
  for (const auto& catalog : catalogs_) {
    std::vector<KernelChoice> choices = catalog->Choices(node, device);
    std::move(choices.begin(), choices.end(), std::back_inserter(all));
  }
  SortBestFirst(all);
  return all;
}

absl::StatusOr<std::vector<CodeObject>> JoinedCatalog::BuildCode(
    absl::Span<const OpView> nodes, const DeviceTraits& device) const {
  std::vector<CodeObject> all;
  bool generates = false;
  for (const auto& catalog : catalogs_) {
    absl::StatusOr<std::vector<CodeObject>> code_objects =
        catalog->BuildCode(nodes, device);
    if (absl::IsUnimplemented(code_objects.status())) continue;
    if (!code_objects.ok()) return code_objects.status();
    generates = true;
    std::move(code_objects->begin(), code_objects->end(),
              std::back_inserter(all));
  }
  if (!generates) {
    return absl::UnimplementedError(
        "found a request for native code; expected a catalog that generates "
        "code for this kind of device");
  }
  return all;
}

}  // namespace partita
