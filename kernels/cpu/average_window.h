// The windows of average pools and their gradients, in oneDNN's terms.
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

// The window of an avg_pool or avg_pool_gradient over images with this many
// spatial dimensions.
AverageWindow WindowOf(const OpView& node, size_t spatial);

// The same with the image's dimensions in that order.
AverageWindow InOrder(const SpatialOrder& order, AverageWindow window);

// True if the window counts positions after the padding, for which oneDNN would
// have to know the end of the padded image.
bool CountsPastTheEnd(const OpView& node);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_AVERAGE_WINDOW_H_
