// Tensors of the C API and types of graphs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_TENSOR_TYPE_H_
#define PARTITA_PARTITA_C_API_TENSOR_TYPE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/tensor_type.h"
#include "partita/c_api.h"

namespace partita::c_api {

// Fills the caller's tensor with the row-major type and `data`.
absl::Status FillTensor(const TensorType& type, const void* data,
                        partita_tensor* tensor);

// The data of a tensor of the row-major type: not null, except for a type
// without bytes. InvalidArgument for another dtype or shape, for NULL, and for
// too few bytes; the message begins with `where`, as in "input x".
absl::StatusOr<void*> DataOfType(const partita_tensor* tensor,
                                 const TensorType& type,
                                 absl::string_view where);

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_TENSOR_TYPE_H_
