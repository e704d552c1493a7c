// How long a primitive of oneDNN takes on a device: predictions.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_SECONDS_H_
#define PARTITA_KERNELS_CPU_ONEDNN_SECONDS_H_

#include "absl/types/span.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {

// Of the primitive in its own layouts, launch included.
double OnednnSeconds(const OpView& node, const OnednnRecipe& recipe,
                     const DeviceTraits& device);

// What of that post-ops take which no generated code computes.
double PostOpSeconds(const OpView& node, const OnednnRecipe& recipe,
                     const DeviceTraits& device);

// True for a fused node that takes longer than its product and a loop over the
// result, each by itself: what is behind the product, or all of it, is left to
// loops of oneDNN's that are not generated.
bool IsSlowFused(const OpView& node, const OnednnRecipe& recipe,
                 const DeviceTraits& device);

// Reading and writing each result whose layouts differ.
double ReorderSeconds(const OpView& node, absl::Span<const Layout> from,
                      absl::Span<const Layout> to, const DeviceTraits& device);

// What the choice takes with all reorders around it from and to the layouts
// that the node has, which read and write each value once.
double RelaidSeconds(const OpView& node, const KernelChoice& choice,
                     const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_SECONDS_H_
