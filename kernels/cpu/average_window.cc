// Attributes with their defaults filled in.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/average_window.h"

#include <algorithm>
#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"

namespace partita {
namespace {

using dnnl::algorithm;
using dnnl::memory;

memory::dims Filled(absl::Span<const int64_t> values, size_t spatial,
                    int64_t otherwise) {
  memory::dims dims(spatial, otherwise);
  std::copy_n(values.begin(), std::min(values.size(), spatial), dims.begin());
  return dims;
}

}  // namespace

AverageWindow WindowOf(const OpView& node, size_t spatial) {
  const auto filled = [&](const char* name, int64_t otherwise) {
    return Filled(node.attr_ints(name), spatial, otherwise);
  };
  AverageWindow window{node.attr_bool("count_include_pad")
                           ? algorithm::pooling_avg_include_padding
                           : algorithm::pooling_avg_exclude_padding,
                       filled("kernel", 1),
                       filled("strides", 1),
                       filled("dilations", 1),
                       filled("pads_before", 0),
                       filled("pads_after", 0)};
  for (int64_t& dilation : window.dilates) --dilation;
  const memory::dims extra = filled("ceil_extra", 0);
  for (size_t i = 0; i < spatial; ++i) window.after[i] += extra[i];
  return window;
}

AverageWindow InOrder(const SpatialOrder& order, AverageWindow window) {
  for (memory::dims* dims : {&window.kernel, &window.strides, &window.dilates,
                             &window.before, &window.after}) {
    *dims = order.Of(*dims);
  }
  return window;
}

bool CountsPastTheEnd(const OpView& node) {
  return node.attr_bool("count_include_pad") &&
         absl::c_any_of(node.attr_ints("ceil_extra"),
                        [](int64_t extra) { return extra != 0; });
}

}  // namespace partita
