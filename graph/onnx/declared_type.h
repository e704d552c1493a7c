// The types that a model declares for its inputs and outputs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_DECLARED_TYPE_H_
#define PARTITA_GRAPH_ONNX_DECLARED_TYPE_H_

#include <string>

#include "absl/status/status.h"
#include "graph/tensor_type.h"
#include "onnx/onnx_pb.h"

namespace partita {

// Some exporters write -1 or 0 for an extent that is open.
bool IsFixed(const onnx::TensorShapeProto::Dimension& dim);

// "batch, 3, ?": names, extents, and what is neither.
std::string ShapeText(const onnx::TensorShapeProto& shape);

// No extent is below -1. `what` begins the message: "input x".
absl::Status CheckExtents(const onnx::TensorShapeProto& shape,
                          absl::string_view what);

// The declaration, as far as it goes, agrees with `type`.
absl::Status CheckDeclared(const onnx::ValueInfoProto& declared,
                           const TensorType& type, absl::string_view what);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_DECLARED_TYPE_H_
