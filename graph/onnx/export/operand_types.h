// Which dtypes the ops of the exported opset take.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_EXPORT_OPERAND_TYPES_H_
#define PARTITA_GRAPH_ONNX_EXPORT_OPERAND_TYPES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "graph/dtype.h"

namespace partita {

// Whether input `input` of an ONNX op may be of the dtype. An op of any number
// of inputs has one rule for all from the last on that the standard names.
bool OnnxTakes(absl::string_view op_type, int input, DType dtype);

// What it takes instead: "f16, f32 or f64".
std::string TakenText(absl::string_view op_type, int input);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_EXPORT_OPERAND_TYPES_H_
