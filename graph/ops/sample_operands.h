// The operands of samples, by type. Only for sources of ops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_SAMPLE_OPERANDS_H_
#define PARTITA_GRAPH_OPS_SAMPLE_OPERANDS_H_

#include <cstdint>
#include <utility>

#include "graph/ops/op_sample.h"

namespace partita {

inline SampleOperand F32(Shape dims) { return {DType::kF32, std::move(dims)}; }
inline SampleOperand I32(Shape dims, double low = -9, double high = 9) {
  return {DType::kI32, std::move(dims), low, high};
}
inline SampleOperand I64(Shape dims, double low, double high) {
  return {DType::kI64, std::move(dims), low, high};
}
inline SampleOperand Bool(Shape dims) {
  return {DType::kBool, std::move(dims), 0, 1};
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_SAMPLE_OPERANDS_H_
