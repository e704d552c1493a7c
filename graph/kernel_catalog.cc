// Defaults of a catalog.
// SPDX-License-Identifier: Apache-2.0

#include "graph/kernel_catalog.h"

namespace partita {

absl::StatusOr<std::vector<CodeObject>> KernelCatalog::BuildCode(
    absl::Span<const OpView>, const DeviceTraits&) const {
  return absl::UnimplementedError(
      "found a request for native code; expected none, as the kernels of this "
      "catalog need no generated code");
}

}  // namespace partita
