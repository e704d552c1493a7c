// Which dtypes the ops of the exported opset accept.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_EXPORT_OPERAND_TYPES_H_
#define PARTITA_GRAPH_ONNX_EXPORT_OPERAND_TYPES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "graph/dtype.h"

namespace partita {

// True if input `input` of an ONNX op may have the dtype. For an op with any
// number of inputs, the last rule applies to all further ones.
bool OnnxTakes(absl::string_view op_type, int input, DType dtype);

// The accepted dtypes: "f16, f32 or f64".
std::string TakenText(absl::string_view op_type, int input);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_EXPORT_OPERAND_TYPES_H_
