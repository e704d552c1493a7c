// The windows of average pools and their gradients, as oneDNN has them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_AVERAGE_WINDOW_H_
#define PARTITA_KERNELS_CPU_AVERAGE_WINDOW_H_

#include "graph/op_view.h"
#include "kernels/cpu/spatial_order.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace partita {

// By spatial dimension; a dilation of 0 is none.
struct AverageWindow {
  dnnl::algorithm kind;
  dnnl::memory::dims kernel, strides, dilates, before, after;
};

// Of an avg_pool or avg_pool_gradient over images of so many spatial
// dimensions.
AverageWindow WindowOf(const OpView& node, size_t spatial);

// The same of images in that order.
AverageWindow InOrder(const SpatialOrder& order, AverageWindow window);

// A window that counts positions past the padding would need oneDNN to know
// the end of the padded image.
bool CountsPastTheEnd(const OpView& node);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_AVERAGE_WINDOW_H_
