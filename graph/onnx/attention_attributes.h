// The attributes of ONNX's Attention, checked.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_ATTENTION_ATTRIBUTES_H_
#define PARTITA_GRAPH_ONNX_ATTENTION_ATTRIBUTES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/dtype.h"
#include "graph/onnx/node_import.h"

namespace partita {

// What the output of scores contains.
enum class AttentionStage { kProducts, kCapped, kMasked, kProbabilities };

struct AttentionAttributes {
  double scale = 1;
  double softcap = 0;  // 0: none
  bool causal = false;
  // Positions that a query sees to its left and right; -1: all.
  int64_t left = -1;
  int64_t right = -1;
  DType softmax_dtype = DType::kF32;
  AttentionStage stage = AttentionStage::kProducts;
};

// `size`: of a query. The default type of the softmax is that of input 0.
absl::StatusOr<AttentionAttributes> ReadAttentionAttributes(NodeImport& node,
                                                            int64_t size);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_ATTENTION_ATTRIBUTES_H_
