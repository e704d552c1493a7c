// Attributes of ONNX's convolutions and pools.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_EXPORT_WINDOW_ATTRIBUTES_H_
#define PARTITA_GRAPH_ONNX_EXPORT_WINDOW_ATTRIBUTES_H_

#include <cstdint>
#include <vector>

#include "graph/onnx/export/node_export.h"

namespace partita {

// kernel_shape, strides and pads; defaults are omitted.
void SetWindow(OnnxNode& node, const OpView& op,
               const std::vector<int64_t>& kernel);
// dilations, likewise.
void SetDilations(OnnxNode& node, const OpView& op);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_EXPORT_WINDOW_ATTRIBUTES_H_
