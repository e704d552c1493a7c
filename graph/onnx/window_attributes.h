// Attributes of ONNX's convolutions and pools.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_WINDOW_ATTRIBUTES_H_
#define PARTITA_GRAPH_ONNX_WINDOW_ATTRIBUTES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/attributes.h"
#include "graph/onnx/node_import.h"

namespace partita {

// One entry per spatial dimension.
struct OnnxWindow {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  // Pools with ceil_mode: end padding that makes the last window fit; it does
  // not count in averages.
  std::vector<int64_t> ceil_extra;
};

// InvalidArgument if the list has not `size` entries from `least` to 2^30.
absl::Status CheckSpatialList(NodeImport& node, const char* name,
                              const std::vector<int64_t>& list, size_t size,
                              int64_t least);

// Reads strides, dilations, pads, auto_pad, kernel_shape (or takes
// `kernel_from_weights`) and ceil_mode for an input of `dims` (N, C,
// spatial...).
absl::StatusOr<OnnxWindow> ReadWindow(
    NodeImport& node, const Shape& dims,
    const std::vector<int64_t>& kernel_from_weights);

// The end padding of ceil_mode for an input of `dims`.
std::vector<int64_t> CeilExtra(const OnnxWindow& window, const Shape& dims);

// strides, dilations, pads_before and pads_after, in terms of our ops.
Attributes WindowAttributes(const OnnxWindow& window);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_WINDOW_ATTRIBUTES_H_
