// The types that a model declares for its inputs and outputs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_DECLARED_TYPE_H_
#define PARTITA_GRAPH_ONNX_DECLARED_TYPE_H_

#include <string>

#include "absl/status/status.h"
#include "graph/tensor_type.h"
#include "onnx/onnx_pb.h"

namespace partita {

// Some exporters write -1 or 0 for an open extent.
bool IsFixed(const onnx::TensorShapeProto::Dimension& dim);

// Equal names are equal extents. "?", "None" and similar are no names:
// exporters write them for unknown extents.
bool IsNamed(const onnx::TensorShapeProto::Dimension& dim);

// "batch, 3, ?": names, extents, and unknown ones.
std::string ShapeText(const onnx::TensorShapeProto& shape);

// Checks that no extent is below -1. `what` begins the message: "input x".
absl::Status CheckExtents(const onnx::TensorShapeProto& shape,
                          absl::string_view what);

// The same for a declared tensor.
absl::Status CheckDeclaredExtents(const onnx::ValueInfoProto& declared,
                                  absl::string_view what);

// Checks that the declaration, if it has an element type, has that of `type`.
absl::Status CheckDeclaredDType(const onnx::ValueInfoProto& declared,
                                const TensorType& type, absl::string_view what);

// True if all that is declared agrees with `type`.
bool IsDeclaredAs(const onnx::ValueInfoProto& declared, const TensorType& type);

// "f32[2, 3]; expected f32[batch, 4], as the model declares it"
std::string FoundAndDeclared(const TensorType& type,
                             const onnx::ValueInfoProto& declared);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_DECLARED_TYPE_H_
