// Shared by the kernels of attention and its gradient: vectors of a head as
// rows, blocks of queries, and the loops over both.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ATTENTION_ROWS_H_
#define PARTITA_KERNELS_CPU_ATTENTION_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "graph/op_view.h"
#include "graph/ops/attention_dims.h"
#include "graph/round_up.h"
#include "kernels/cpu/gate_functions.h"
#include "kernels/kernel.h"
#include "kernels/vector/float_vector.h"

namespace partita {

// Queries of a block. Their scores with a block of keys fit into a core's
// second-level cache.
inline constexpr int64_t kBlockQueries = 64;

[[gnu::always_inline]] inline int64_t WholeVectors(int64_t count) {
  return RoundUp(count, kVector);
}

// The vectors of one head, one for each position.
template <typename Float>
struct HeadVectors {
  Float* first;
  int64_t step;

  Float* operator[](int64_t position) const { return first + position * step; }
};

// The vectors of any head of a tensor.
template <typename Float>
HeadVectors<Float> VectorsOf(Float* tensor, const AttentionStrides& strides,
                             int64_t sample, int64_t head) {
  return {tensor + sample * strides.sample + head * strides.head,
          strides.position};
}

// A node's extents and attributes, in the form that its kernels need.
struct AttentionNode : AttentionDims {
  AttentionNode(const OpView& node, int mask_operand)
      : AttentionDims(node),
        q(StridesOf(heads, queries, size)),
        k(StridesOf(kv_heads, keys, size)),
        v(StridesOf(kv_heads, keys, value_size)),
        y(StridesOf(heads, queries, value_size)),
        has_mask(mask_operand < node.num_operands()),
        mask(has_mask ? node.operand_type(mask_operand).dims : Shape()),
        scale(static_cast<float>(node.attr_float("scale"))),
        softcap(static_cast<float>(node.attr_float("softcap"))),
        zero_blind(node.attr_bool("zero_blind")) {}

  // The first factor of the products; it makes the softcap 1.
  float FirstScale() const { return softcap > 0 ? scale / softcap : scale; }

  AttentionStrides q, k, v, y;
  bool has_mask;
  MaskStrides mask;
  float scale;
  float softcap;  // 0: none
  bool zero_blind;
};

// Queries [first, first + count) of one head. In causal attention only some of
// them see keys from `square` on: query j and later ones see key square + j.
struct QueryBlock {
  QueryBlock(const AttentionDims& d, int64_t first, int64_t count)
      : first(first),
        count(count),
        square(d.causal ? std::min(first + d.past, d.keys) : d.keys),
        side(std::min(d.keys - square, count)) {}

  // Keys that at least one query sees.
  int64_t seen() const { return square + side; }

  int64_t first;
  int64_t count;
  int64_t square;  // keys that all see
  int64_t side;    // size of the square; 0 if all queries see the same keys
};

// to[d][j] = scale from[j][d], for `count` vectors of `size` floats, in lines
// of `line` floats; zeros after the last j fill its vector.
struct ScaledTranspose {
  [[gnu::always_inline]] static inline void Run(HeadVectors<const float> from,
                                                int64_t count, int64_t size,
                                                float scale, float* to,
                                                int64_t line) {
    for (int64_t j = 0; j < count; j += kVector) {
      for (int64_t d = 0; d < size; d += kVector) {
        const int64_t rows = std::min(kVector, count - j);
        const int64_t columns = std::min(kVector, size - d);
        Vector tile[kVector] = {};
#pragma GCC unroll 16
        for (int64_t i = 0; i < kVector; ++i) {
          if (i < rows) LoadLanes(from[j + i] + d, columns, 0, tile[i]);
          tile[i] *= scale;
        }
        TransposeLanes(tile);
#pragma GCC unroll 16
        for (int64_t i = 0; i < kVector; ++i) {
          if (i < columns) Store(tile[i], to + (d + i) * line + j);
        }
      }
    }
  }
};

// cap tanh(x), for whole vectors. If `shares` is not null, it receives tanh(x).
struct SoftcapLine {
  [[gnu::always_inline]] static inline void Run(float* line, float* shares,
                                                int64_t count, float cap) {
    for (int64_t i = 0; i < count; i += kVector) {
      Vector x;
      Load(line + i, x);
      Tanh(x);
      if (shares != nullptr) Store(x, shares + i);
      x *= cap;
      Store(x, line + i);
    }
  }
};

// The kernel of an attention_gradient, and its scratch bytes for each thread.
std::unique_ptr<Kernel> BindAttentionGradient(const OpView& node, int threads);
int64_t AttentionGradientWorkspace(const OpView& node, int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ATTENTION_ROWS_H_
