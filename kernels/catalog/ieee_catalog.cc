// Filters choices by their arithmetic.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/ieee_catalog.h"

#include "absl/algorithm/container.h"

namespace partita {

bool ViolatesIeee(const KernelChoice& choice) {
  return absl::c_any_of(choice.arithmetics, [](const Arithmetic& arithmetic) {
    return arithmetic.violates.any();
  });
}

std::vector<KernelChoice> IeeeCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  std::vector<KernelChoice> choices = all_.Choices(node, device);
  std::erase_if(choices, ViolatesIeee);
  return choices;
}

absl::StatusOr<std::vector<CodeObject>> IeeeCatalog::BuildCode(
    absl::Span<const OpView> nodes, const DeviceTraits& device) const {
  return all_.BuildCode(nodes, device);
}

}  // namespace partita
