// Loops of attention over scores stored as [key, query]: the running softmax,
// masks, and rows of results.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ATTENTION_LOOPS_H_
#define PARTITA_KERNELS_CPU_ATTENTION_LOOPS_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/cpu/attention_rows.h"
#include "kernels/cpu/softmax_line.h"
#include "kernels/vector/lanes.h"

namespace partita {

// Floats in a line of queries: one vector more than a block, so that lines do
// not all map to the same sets of a cache.
inline constexpr int64_t kQueryLine = kBlockQueries + kVector;

// Scores of a block, [keys, queries], which become powers; and for each query
// the largest score so far, the sum of powers, and the factor for the sums of
// previous blocks.
struct ScoreBlock {
  float* scores;
  int64_t keys;
  int64_t lanes;  // queries, rounded up to whole vectors
  float* tops;
  float* totals;
  float* factors;
};

template <typename Part>
struct RunningSoftmax {
  using Sixteen = Lanes<Part>;

  [[gnu::always_inline]] static inline void Run(ScoreBlock b) {
    for (int64_t i = 0; i < b.lanes; i += kVector) {
      RunLanes(b.scores + i, b.keys, b.tops + i, b.totals + i, b.factors + i);
    }
  }

 private:
  [[gnu::always_inline]] static inline void RunLanes(float* scores,
                                                     int64_t keys, float* tops,
                                                     float* totals,
                                                     float* factors) {
    Sixteen top, sum, factor;
    top.LoadFrom(tops);
    factor = top;
    for (int64_t j = 0; j < keys; ++j) {
      Sixteen score;
      score.LoadFrom(scores + j * kQueryLine);
      top.Raise(score);
    }
    top.StoreTo(tops);
    BoundFromBelow(top);
    factor.Subtract(top);
    Exp(factor);
    factor.StoreTo(factors);
    sum.LoadFrom(totals);
    sum.Scale(factor);
    for (int64_t j = 0; j < keys; ++j) {
      Sixteen power;
      power.LoadFrom(scores + j * kQueryLine);
      power.Subtract(top);
      Exp(power);
      power.StoreTo(scores + j * kQueryLine);
      sum.Add(power);
    }
    sum.StoreTo(totals);
  }

  // A query that has seen no key would subtract minus infinity from itself.
  [[gnu::always_inline]] static inline void BoundFromBelow(Sixteen& top) {
    BoundPart(top.low);
    if constexpr (kIsHalf<Part>) BoundPart(top.high);
  }
  [[gnu::always_inline]] static inline void BoundPart(Part& top) {
    const Part least = Part{} + std::numeric_limits<float>::lowest();
    WhereLess(top, least, Part{}, top, top);
  }
};

// Rows of `size` floats, `step` apart, each times its factor.
struct ScaledRows {
  const float* factors;
  int64_t count;
  int64_t size;
  float* rows;
  int64_t step;
};

// A row of `size` floats times a factor; `to` may be `from`.
template <typename Part>
struct ScaleRow {
  [[gnu::always_inline]] static inline void Run(const float* from, float factor,
                                                int64_t size, float* to) {
    Lanes<Part> by, v;
    by.Fill(factor);
    int64_t i = 0;
    for (; i + kVector <= size; i += kVector) {
      v.LoadFrom(from + i);
      v.Scale(by);
      v.StoreTo(to + i);
    }
    for (; i < size; ++i) to[i] = from[i] * factor;
  }
};

template <typename Part>
struct ScaleRows {
  [[gnu::always_inline]] static inline void Run(ScaledRows r) {
    for (int64_t i = 0; i < r.count; ++i) {
      float* const row = r.rows + i * r.step;
      if (r.factors[i] != 1) {
        ScaleRow<Part>::Run(row, r.factors[i], r.size, row);
      }
    }
  }
};

// scores[j] = scale times the product of q and key j, for one query.
struct OneQuery {
  const float* q;
  const float* keys;
  int64_t step;  // of keys
  int64_t count;
  int64_t size;
  float scale;
  float* scores;
};

template <typename Part>
struct ScoreOneQuery {
  using Sixteen = Lanes<Part>;

  [[gnu::always_inline]] static inline void Run(OneQuery o) {
    for (int64_t j = 0; j < o.count; ++j) {
      o.scores[j * kQueryLine] =
          o.scale * Dot(o.q, o.keys + j * o.step, o.size);
    }
  }

 private:
  [[gnu::always_inline]] static inline float Dot(const float* a, const float* b,
                                                 int64_t size) {
    Sixteen sum, x, y;
    sum.Fill(0);
    for (int64_t i = 0; i < size; i += kVector) {
      const int64_t lanes = std::min(kVector, size - i);
      x.LoadFirst(a + i, lanes, 0);
      y.LoadFirst(b + i, lanes, 0);
      x.Scale(y);
      sum.Add(x);
    }
    return sum.Sum();
  }
};

// scores[j][i] += mask[i][j], for 16 queries and as many keys.
struct AddMaskTile {
  [[gnu::always_inline]] static inline void Run(const float* const* rows,
                                                int64_t count, int64_t keys,
                                                float* scores) {
    Vector tile[kVector] = {};
    for (int64_t i = 0; i < count; ++i) LoadLanes(rows[i], keys, 0, tile[i]);
    TransposeLanes(tile);
    for (int64_t j = 0; j < keys; ++j) {
      Vector score;
      Load(scores + j * kQueryLine, score);
      score += tile[j];
      Store(score, scores + j * kQueryLine);
    }
  }
};

// Adds a value to a line of queries.
struct AddToLine {
  [[gnu::always_inline]] static inline void Run(float* line, int64_t count,
                                                float value) {
    for (int64_t i = 0; i < count; i += kVector) {
      Vector v;
      Load(line + i, v);
      v += value;
      Store(v, line + i);
    }
  }
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ATTENTION_LOOPS_H_
