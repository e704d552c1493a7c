// The extents of an attention or its gradient: operands 0 to 2 are queries,
// keys and values.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_ATTENTION_DIMS_H_
#define PARTITA_GRAPH_OPS_ATTENTION_DIMS_H_

#include <algorithm>
#include <cstdint>

#include "graph/op_view.h"

namespace partita {

// Strides of a tensor of four dimensions, in elements.
struct AttentionStrides {
  int64_t sample;
  int64_t head;
  int64_t position;
};

// Needs: a node that has passed inference.
struct AttentionDims {
  explicit AttentionDims(const OpView& op)
      : positions_first(op.attr_bool("positions_first")),
        causal(op.attr_bool("causal")) {
    const Shape& q = op.operand_type(0).dims;
    const Shape& k = op.operand_type(1).dims;
    samples = q[0];
    heads = q[HeadsDim()];
    kv_heads = k[HeadsDim()];
    queries = q[PositionsDim()];
    keys = k[PositionsDim()];
    past = std::min(op.attr_int("past"), keys);
    size = q[3];
    value_size = op.operand_type(2).dims[3];
  }

  int HeadsDim() const { return positions_first ? 2 : 1; }
  int PositionsDim() const { return positions_first ? 1 : 2; }
  // Query heads for each head of keys and values.
  int64_t group() const { return kv_heads > 0 ? heads / kv_heads : 0; }
  // How many keys a query sees without a mask; they are the first ones.
  int64_t Seen(int64_t query) const {
    return causal && query < keys - past ? query + past + 1 : keys;
  }
  // The same, summed over all queries of a head.
  double SeenByAll() const {
    const int64_t limited = causal ? std::min(queries, keys - past) : 0;
    const double rows = static_cast<double>(limited);
    return rows * static_cast<double>(past) + rows * (rows + 1) / 2 +
           static_cast<double>(queries - limited) * static_cast<double>(keys);
  }

  // Strides of queries, keys, values or results with these extents.
  Shape DimsOf(int64_t its_heads, int64_t positions, int64_t its_size) const {
    return positions_first ? Shape{samples, positions, its_heads, its_size}
                           : Shape{samples, its_heads, positions, its_size};
  }
  AttentionStrides StridesOf(int64_t its_heads, int64_t positions,
                             int64_t its_size) const {
    const int64_t sample = its_heads * positions * its_size;
    return positions_first
               ? AttentionStrides{sample, its_size, its_heads * its_size}
               : AttentionStrides{sample, positions * its_size, its_size};
  }

  int64_t samples = 0;
  int64_t heads = 0;     // of queries and results
  int64_t kv_heads = 0;  // of keys and values
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t size = 0;        // of a query and a key
  int64_t value_size = 0;  // of a value and a result
  bool positions_first;
  bool causal;
  int64_t past = 0;  // keys before the first query's own
};

// The strides of a mask by sample, head, query and key; 0 where it broadcasts.
struct MaskStrides {
  // For a mask with these extents, which are the last of [samples, heads,
  // queries, keys].
  explicit MaskStrides(const Shape& dims) {
    int64_t* const strides[] = {&key, &query, &head, &sample};
    int64_t step = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t extent = dims[dims.size() - 1 - i];
      *strides[i] = extent == 1 ? 0 : step;
      step *= extent;
    }
  }

  int64_t sample = 0;
  int64_t head = 0;
  int64_t query = 0;
  int64_t key = 0;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_ATTENTION_DIMS_H_
