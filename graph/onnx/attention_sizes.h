// Extents of ONNX's attentions, checked: heads of queries, keys and values.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_ATTENTION_SIZES_H_
#define PARTITA_GRAPH_ONNX_ATTENTION_SIZES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"

namespace partita {

// An operand as [batch, heads, positions, size].
struct HeadSizes {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t positions = 0;
  int64_t size = 0;

  Shape dims() const { return {batch, heads, positions, size}; }
};

// For an input [batch, heads, positions, size], with the attribute, if present,
// as the number of heads; or for [batch, positions, heads * size], which
// requires it.
absl::StatusOr<HeadSizes> ReadHeads(NodeImport& node, int input,
                                    absl::string_view heads_attribute);

// The operand with dimensions in the order of HeadSizes.
Expr InHeads(Expr x, const HeadSizes& sizes);
// [batch, heads, positions, size] as [batch, positions, heads * size].
Expr Packed(Expr x);

struct AttentionSizes {
  HeadSizes queries;
  HeadSizes keys;    // of this node's inputs, without the past ones
  HeadSizes values;  // as many as keys
  int64_t past = 0;

  int64_t total() const { return past + keys.positions; }
  // Heads of queries for each head of keys.
  int64_t group() const { return queries.heads / keys.heads; }
  // [batch, heads, queries, keys]
  Shape scores() const {
    return {queries.batch, queries.heads, queries.positions, total()};
  }
};

// Of inputs 0 to 2: queries, keys and values, checked against each other.
absl::StatusOr<AttentionSizes> ReadAttentionSizes(NodeImport& node);

// Checks the dtype and extents of an input; `what` names them in messages.
absl::Status ExpectInput(const NodeImport& node, int input, DType dtype,
                         const Shape& dims, absl::string_view what);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_ATTENTION_SIZES_H_
