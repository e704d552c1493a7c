// What a catalog answers unless it says otherwise.
// SPDX-License-Identifier: Apache-2.0

#include "graph/kernel_catalog.h"

namespace partita {

absl::StatusOr<std::vector<KernelImage>> KernelCatalog::BuildImages(
    absl::Span<const OpView>, const DeviceTraits&) const {
  return absl::UnimplementedError(
      "found a request for images; expected none, as the kernels of this "
      "catalog need no generated code");
}

}  // namespace partita
