// oneDNN's primitives as CPU kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_KERNELS_H_
#define PARTITA_KERNELS_CPU_ONEDNN_KERNELS_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "graph/kernel_catalog.h"
#include "kernels/kernel.h"

namespace partita {

// Queries primitive descriptors for the device's number of threads, without
// generating code, and caches the answers. They come from a process whose
// oneDNN uses the device's instruction set. Nothing is offered for a set that
// CheckOnednn refuses. Nodes that only oneDNN's reference loops could compute
// are not offered when fused, so they are not fused.
class OnednnCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;

 private:
  // Not absl's: ThreadSanitizer does not see into Debian's library.
  mutable std::mutex mutex_;  // guards what follows
  mutable absl::flat_hash_map<std::string, std::vector<KernelChoice>> answers_;
};

// Unavailable, with a remedy, if a catalog got no answer for such a device,
// because no oneDNN with its instruction set could be queried.
absl::Status CheckOnednn(const DeviceTraits& device);

// Binds the implementation that the plan names, if this process has it within
// the workspace. Otherwise binds the fastest within the workspace, by the
// catalog's prices, in the node's layouts or in others with reorders. For an
// emulated device, binds the fastest of all. Binds oneDNN's reference loops
// only if the plan names them.
class OnednnLibrary : public KernelLibrary {
 public:
  absl::string_view name() const override { return "onednn"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override;

 private:
  OnednnCatalog catalog_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_KERNELS_H_
