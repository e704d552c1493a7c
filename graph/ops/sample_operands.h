// The operands of samples, by type. Only for sources of ops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_SAMPLE_OPERANDS_H_
#define PARTITA_GRAPH_OPS_SAMPLE_OPERANDS_H_

#include <cstdint>
#include <vector>

#include "graph/ops/op_sample.h"

namespace partita {

// Values of attributes.
using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;

inline SampleOperand F32(const Shape& dims) { return {DType::kF32, dims}; }
inline SampleOperand I32(const Shape& dims, double low = -9, double high = 9) {
  return {DType::kI32, dims, low, high};
}
inline SampleOperand I64(const Shape& dims, double low, double high) {
  return {DType::kI64, dims, low, high};
}
inline SampleOperand Bool(const Shape& dims) {
  return {DType::kBool, dims, 0, 1};
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_SAMPLE_OPERANDS_H_
