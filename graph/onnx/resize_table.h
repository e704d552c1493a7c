// Resizes axis by axis with a table of weights each, for filters that widen as
// the extent shrinks and for a part of an axis.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_RESIZE_TABLE_H_
#define PARTITA_GRAPH_ONNX_RESIZE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/onnx/node_import.h"

namespace partita {

// How each dimension is resized.
struct ResizeSpec {
  std::vector<int64_t> sizes;
  std::vector<double> scales;
};

struct TableSampling {
  std::string mode;  // nearest, linear or cubic
  std::string coordinates;
  std::string nearest;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  bool of_f64 = false;  // positions are computed in f64, else in f32
  // For tf_crop_and_resize: the part of each dimension, and the value outside
  // its elements.
  std::vector<double> from = {};
  std::vector<double> to = {};
  double beyond = 0;
};

// Sets output 0 of the node to its resized input 0.
absl::Status ResizeByTables(NodeImport& node, const ResizeSpec& spec,
                            const TableSampling& sampling);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_RESIZE_TABLE_H_
