// 16-bit floats on CPUs that do not compute with them: products by kernels of
// f32, and casts.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WIDENED_WIDENED_KERNELS_H_
#define PARTITA_KERNELS_WIDENED_WIDENED_KERNELS_H_

#include <memory>
#include <vector>

#include "graph/kernel_catalog.h"
#include "kernels/kernel.h"

namespace partita {

// "widened.onednn.matmul": matmul, conv, conv_transpose and
// conv_weight_gradient of bf16 or f16. Operands are converted to f32 in the
// workspace, one of `products`' kernels computes the f32 node there, and its
// result is rounded once: sums are of f32, as in kernels for the dtype. And
// "widened.cast" (half_cast.h).
class WidenedCatalog : public KernelCatalog {
 public:
  explicit WidenedCatalog(std::shared_ptr<const KernelCatalog> products)
      : products_(std::move(products)) {}
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;

 private:
  std::shared_ptr<const KernelCatalog> products_;
};

// Over the library of the same products, which must outlive it.
class WidenedLibrary : public KernelLibrary {
 public:
  explicit WidenedLibrary(const KernelLibrary& products)
      : products_(products) {}
  absl::string_view name() const override { return "widened"; }
  absl::StatusOr<LibraryKernel> Bind(const BindRequest& request) const override;

 private:
  const KernelLibrary& products_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_WIDENED_WIDENED_KERNELS_H_
