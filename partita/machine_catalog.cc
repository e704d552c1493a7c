// Puts the profile before the catalogs of the backends.
// SPDX-License-Identifier: Apache-2.0

#include "partita/machine_catalog.h"

#include "graph/status_macros.h"
#include "partita/backends/built_in_catalog.h"

namespace partita {

MachineCatalog::MachineCatalog(const Machine& machine, bool ieee)
    : machine_(machine), all_(ieee ? BuiltInIeeeCatalog() : BuiltInCatalog()) {
  if (machine.profile.measured == nullptr) return;
  profiled_ =
      std::make_unique<const ProfiledCatalog>(all_, machine.profile.measured);
}

absl::Status MachineCatalog::Check() const {
  for (const MachineDevice& device : machine_.devices) {
    PARTITA_RETURN_IF_ERROR(CheckBuiltInCatalog(device.traits));
  }
  if (profiled_ == nullptr) return absl::OkStatus();
  return profiled_->CheckVersions();
}

}  // namespace partita
