// oneDNN's primitives as kernels of the CPU.
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

// Asks oneDNN for primitive descriptors at the device's number of threads,
// without generating code, and remembers the answers. They are those of a
// process whose oneDNN uses the device's instruction set, whatever this process
// uses: nothing is offered for a set that CheckOnednn refuses. What only an
// implementation of oneDNN's reference loops could do is not offered for fused
// nodes, so that they are not fused.
class OnednnCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;

 private:
  // Not absl's: ThreadSanitizer does not see into the library of Debian.
  mutable std::mutex mutex_;  // guards what follows
  mutable absl::flat_hash_map<std::string, std::vector<KernelChoice>> answers_;
};

// Unavailable, with what to do, if a catalog was asked about such a device and
// had no answer, as oneDNN could not be asked for its instruction set.
absl::Status CheckOnednn(const DeviceTraits& device);

// Binds the implementation that the plan names, where this process has it
// within the workspace; else the one that is fastest within it, by the
// catalog's measure: in the node's layouts, or in others with reorders around.
// A stand-in is the fastest of all. oneDNN's reference loops are bound only
// where the plan names them.
class OnednnLibrary : public KernelLibrary {
 public:
  absl::string_view name() const override { return "onednn"; }
  absl::StatusOr<LibraryKernel> Bind(const BindRequest& request) const override;

 private:
  OnednnCatalog catalog_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_KERNELS_H_
