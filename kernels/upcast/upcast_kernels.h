// 16-bit floats on CPUs that do not compute with them: upcast, with f32
// kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_UPCAST_UPCAST_KERNELS_H_
#define PARTITA_KERNELS_UPCAST_UPCAST_KERNELS_H_

#include <memory>
#include <utility>
#include <vector>

#include "graph/kernel_catalog.h"
#include "kernels/kernel.h"

namespace partita {

// "upcast.onednn.matmul", "upcast.cpu.softmax": nodes of one op, not
// elementwise, with bf16 or f16 among their values. Operands are upcast to f32
// in the workspace, a kernel of the first of `catalogs` that has one computes
// the f32 node there, and its results are rounded once. Sums are f32, as in
// kernels for the dtype. Nodes that only move elements are left to those
// catalogs. Also "upcast.cast" (half_cast.h).
class UpcastCatalog : public KernelCatalog {
 public:
  using Catalogs = std::vector<std::shared_ptr<const KernelCatalog>>;

  explicit UpcastCatalog(Catalogs catalogs) : catalogs_(std::move(catalogs)) {}
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;

 private:
  std::vector<KernelChoice> ChoicesInF32(const OpView& node,
                                         const DeviceTraits& device) const;
  bool IsMovedAsItIs(const OpView& node, const DeviceTraits& device) const;

  const Catalogs catalogs_;
};

// Over the libraries of the same catalogs, which must outlive it.
class UpcastLibrary : public KernelLibrary {
 public:
  explicit UpcastLibrary(std::vector<const KernelLibrary*> libraries)
      : libraries_(std::move(libraries)) {}
  absl::string_view name() const override { return "upcast"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override;

 private:
  // `twin` is the node in f32, whose values take `room` bytes of the workspace.
  absl::StatusOr<BoundKernel> BindInF32(const BindRequest& request,
                                        const OpView& twin, int64_t room) const;

  const std::vector<const KernelLibrary*> libraries_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_UPCAST_UPCAST_KERNELS_H_
