// Predicts the time of a oneDNN primitive on a device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_SECONDS_H_
#define PARTITA_KERNELS_CPU_ONEDNN_SECONDS_H_

#include "absl/types/span.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {

// Seconds of the primitive in its own layouts, launch included.
double OnednnSeconds(const OpView& node, const OnednnRecipe& recipe,
                     const DeviceTraits& device);

// The part of that time for post-ops without generated code.
double PostOpSeconds(const OpView& node, const OnednnRecipe& recipe,
                     const DeviceTraits& device);

// True for a fused node that is slower than its product and a separate loop
// over the result: oneDNN computes the epilogue, or all of it, with loops that
// are not generated.
bool IsSlowFused(const OpView& node, const OnednnRecipe& recipe,
                 const DeviceTraits& device);

// Reading and writing each result whose layouts differ.
double ReorderSeconds(const OpView& node, absl::Span<const Layout> from,
                      absl::Span<const Layout> to, const DeviceTraits& device);

// The choice's seconds with all reorders from and to the node's layouts, which
// read and write each value once.
double RelaidSeconds(const OpView& node, const KernelChoice& choice,
                     const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_SECONDS_H_
