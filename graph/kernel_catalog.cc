// Defaults of a catalog, and the order of its choices.
// SPDX-License-Identifier: Apache-2.0

#include "graph/kernel_catalog.h"

#include <algorithm>

namespace partita {

absl::StatusOr<std::vector<CodeObject>> KernelCatalog::BuildCode(
    absl::Span<const OpView>, const DeviceTraits&) const {
  return absl::UnimplementedError(
      "found a request for native code; expected none, as the kernels of this "
      "catalog need no generated code");
}

double KernelCatalog::ReorderSeconds(const TensorType& type, const Layout&,
                                     const DeviceTraits& device) const {
  const double bytes = 2.0 * type.num_bytes();
  const double moving =
      device.memory_bandwidth > 0 ? bytes / device.memory_bandwidth : 0;
  return device.launch_seconds + moving;
}

void SortBestFirst(std::vector<KernelChoice>& choices) {
  std::stable_sort(choices.begin(), choices.end(),
                   [](const KernelChoice& a, const KernelChoice& b) {
                     if (a.fallback != b.fallback) return b.fallback;
                     return a.seconds < b.seconds;
                   });
}

}  // namespace partita
