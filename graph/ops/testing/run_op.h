// One op on tensors, for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_TESTING_RUN_OP_H_
#define PARTITA_GRAPH_OPS_TESTING_RUN_OP_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/op_def.h"

namespace partita {

using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;

// The results of a node of `op`, or the first error.
absl::StatusOr<std::vector<HostTensor>> RunOp(
    const OpDef& op, const std::vector<HostTensor>& operands,
    const Attributes& attributes = {});

// The first result as text, "f32[2] 1 2.5", or the error message.
std::string Show(const OpDef& op, const std::vector<HostTensor>& operands,
                 const Attributes& attributes = {});
std::string Show(const HostTensor& tensor);

// A list of tensors; an initializer list would have to copy them.
template <typename... T>
std::vector<HostTensor> List(T&&... tensors) {
  std::vector<HostTensor> list;
  (list.push_back(std::forward<T>(tensors)), ...);
  return list;
}
inline HostTensor F(Shape dims, const std::vector<float>& values) {
  return HostTensor::Of<float>(std::move(dims), values);
}
inline HostTensor I(Shape dims, const std::vector<int64_t>& values) {
  return HostTensor::Of<int64_t>(std::move(dims), values);
}
// 0, 1, 2, ... in these extents.
HostTensor Counting(Shape dims);

// The result or error of inference for operands %x0, %x1, ... of these types.
std::string InferMessage(const OpDef& op, const std::vector<TensorType>& types,
                         const Attributes& attributes = {});

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_TESTING_RUN_OP_H_
