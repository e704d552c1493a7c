// The kernels of a machine's devices, and what they cost there.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_MACHINE_CATALOG_H_
#define PARTITA_PARTITA_MACHINE_CATALOG_H_

#include <memory>

#include "absl/status/status.h"
#include "graph/kernel_catalog.h"
#include "placement/cost/profiled_catalog.h"
#include "placement/machine/machine.h"

namespace partita {

// The kernels of all backends, at the prices of the machine's profile
// (placement/cost/profiled_catalog.h) if it has one, else of their rooflines.
// Whoever prices nodes for a machine asks this catalog. Thread safety: const
// calls may run in parallel.
class MachineCatalog {
 public:
  // With `ieee`, without kernels that violate IEEE 754
  // (docs/internals/numerics.md). `machine` must outlive it.
  explicit MachineCatalog(const Machine& machine, bool ieee = false);
  MachineCatalog(const MachineCatalog&) = delete;
  MachineCatalog& operator=(const MachineCatalog&) = delete;

  const KernelCatalog& catalog() const {
    return profiled_ == nullptr ? all_ : *profiled_;
  }
  // The first error of a device's catalog, which made it offer fewer kernels
  // than it should, or of the profile, if it is of other versions of kernels.
  // Call it after all other queries.
  absl::Status Check() const;

 private:
  const Machine& machine_;
  const KernelCatalog& all_;
  std::unique_ptr<const ProfiledCatalog> profiled_;  // null: no profile
};

}  // namespace partita

#endif  // PARTITA_PARTITA_MACHINE_CATALOG_H_
