// Tensors of ONNX files: in a model, beside it, or in .pb files of test data.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_TENSOR_PROTO_H_
#define PARTITA_GRAPH_ONNX_TENSOR_PROTO_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/host_tensor.h"

namespace onnx {
class TensorProto;
}  // namespace onnx

namespace partita {

// "tensor NAME: found FOUND; expected EXPECTED".
absl::Status BadTensor(const onnx::TensorProto& proto, absl::string_view found,
                       absl::string_view expected);

// The dtype of a TensorProto::DataType; nullopt for strings and complex
// numbers.
std::optional<DType> DTypeOfOnnx(int64_t data_type);

// The inverse.
int OnnxOfDType(DType dtype);

// Dtype and extents, checked.
absl::StatusOr<TensorType> TypeOfProto(const onnx::TensorProto& proto);

// The tensor's elements, copied. The number of stored bytes must match the type
// exactly. Refuses external data.
absl::StatusOr<HostTensor> TensorOfProto(const onnx::TensorProto& proto);

// A .pb file of the ONNX test data: one serialised TensorProto.
absl::StatusOr<HostTensor> ReadTensorFile(const std::string& path);
absl::StatusOr<HostTensor> ParseTensorFile(absl::string_view bytes,
                                           absl::string_view source);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_TENSOR_PROTO_H_
