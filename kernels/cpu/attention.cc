// cpu.attention: f32 attention and its gradient, row-major. A head's queries
// pass in blocks, with the keys that they see and no others: scores lie in a
// core's caches and never in memory, and the gradient computes them again, as
// in FlashAttention (Dao et al. 2022), but for a line of all keys at a time.
// Every head is computed by one thread; sums are as in block_product.h and
// softmax_line.h.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/softmax_line.h"
#include "kernels/team/team.h"
#include "kernels/vector/block_product.h"
#include "kernels/vector/float_vector.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

// Queries of a block: their scores against some hundred keys, twice, stay in a
// core's second cache.
constexpr int64_t kQueries = 64;

[[gnu::always_inline]] inline int64_t RoundedUp(int64_t count) {
  return (count + kVector - 1) / kVector * kVector;
}

struct Sizes {
  explicit Sizes(const OpView& node)
      : samples(node.operand_type(0).dims[0]),
        positions(node.operand_type(0).dims[1]),
        heads(node.operand_type(0).dims[3]),
        size(node.operand_type(0).dims[4]),
        causal(node.attr_bool("causal")),
        is_gradient(node.is(kAttentionGradient)) {}

  // Floats between neighbouring positions of the result, and of x.
  int64_t step() const { return heads * size; }
  int64_t packed_step() const { return 3 * heads * size; }
  // Floats of a line of scores. One vector more than whole ones, so that lines
  // do not all begin in the same sets of a cache.
  int64_t line() const { return RoundedUp(positions) + kVector; }
  int64_t ThreadFloats() const {
    const int64_t sides = is_gradient ? 2 : 1;
    return sides * (size + kQueries) * line();
  }

  int64_t samples, positions, heads, size;
  bool causal;
  bool is_gradient;
};

// Vectors of one head, one for each position.
template <typename Float>
struct Vectors {
  Float* first;
  int64_t step;

  Float* operator[](int64_t position) const { return first + position * step; }
};
using Read = Vectors<const float>;
using Write = Vectors<float>;

// Queries [first, first + count).
struct Block {
  int64_t first;
  int64_t count;
  bool causal;
  int64_t positions;

  // Keys that all of the queries see; where causal, the block's own follow.
  int64_t seen_by_all() const { return causal ? first : positions; }
  int64_t seen_by_any() const { return causal ? first + count : positions; }
  int64_t SeenBy(int64_t query) const {
    return causal ? first + query + 1 : positions;
  }
};

// Lanes of a line's last vector behind `count` elements become `value`.
[[gnu::always_inline]] inline void FillUp(float* line, int64_t count,
                                          float value) {
  if (count % kVector == 0) return;
  float* const last = line + count / kVector * kVector;
  Vector v;
  Load(last, v);
  KeepLanes(v, count % kVector, value);
  Store(v, last);
}

// Scores of the keys that a query sees become shares; its last vector's other
// shares are 0.
template <typename Part>
struct SharesLine {
  [[gnu::always_inline]] static inline void Run(float* line, int64_t count) {
    FillUp(line, count, -HUGE_VALF);
    SoftmaxLine<false, Part>::Run(line, line, RoundedUp(count));
  }
};

// dp becomes ds = p (dp - sum p dp) scale.
struct ScoreGradientLine {
  [[gnu::always_inline]] static inline void Run(const float* p, float* dp,
                                                int64_t count, float scale) {
    Vector share, slope;
    Vector mean = {};
    FillUp(dp, count, 0);
    for (int64_t i = 0; i < count; i += kVector) {
      Load(p + i, share);
      Load(dp + i, slope);
      mean += share * slope;
    }
    SumLanes(mean);
    for (int64_t i = 0; i < count; i += kVector) {
      Load(p + i, share);
      Load(dp + i, slope);
      slope = share * (slope - mean) * scale;
      Store(slope, dp + i);
    }
  }
};

// to[d][j] = scale from[j][d], of `count` vectors of `size` floats, in lines of
// `line`; zeros behind the last j fill its vector.
struct ScaledTranspose {
  [[gnu::always_inline]] static inline void Run(Vectors<const float> from,
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

// One head, in scratch of Sizes::ThreadFloats.
class Head {
 public:
  Head(const Sizes& sizes, float* scratch)
      : sizes_(sizes), line_(sizes.line()) {
    keys_ = scratch;
    shares_ = keys_ + sizes.size * line_;
    values_ = shares_ + kQueries * line_;  // of gradients alone, as the last
    slopes_ = values_ + sizes.size * line_;
  }

  void Attend(Read q, Read k, Read v, Write y) const {
    Transpose(k, scale(), keys_);
    ForEachBlock([&](const Block& block) {
      ComputeShares(block, q);
      SumOverKeys(block, shares_, v, y);
    });
  }

  void Differentiate(Read q, Read k, Read v, Read dy, Write dq, Write dk,
                     Write dv) const {
    Transpose(k, scale(), keys_);
    Transpose(v, 1, values_);
    ForEachBlock([&](const Block& block) {
      ComputeShares(block, q);
      ComputeSlopes(block, dy);
      SumOverKeys(block, slopes_, k, dq);
      AddOverQueries(block, slopes_, q, dk);
      AddOverQueries(block, shares_, dy, dv);
    });
  }

 private:
  float scale() const {
    return static_cast<float>(1 / std::sqrt(static_cast<double>(sizes_.size)));
  }

  template <typename Visit>
  void ForEachBlock(Visit visit) const {
    for (int64_t i = 0; i < sizes_.positions; i += kQueries) {
      visit(Block{i, std::min(kQueries, sizes_.positions - i), sizes_.causal,
                  sizes_.positions});
    }
  }

  void Transpose(Read from, float scale, float* to) const {
    RunVectorised<ScaledTranspose>(from, sizes_.positions, sizes_.size, scale,
                                   to, line_);
  }

  // result = vectors times what Transpose made, for all keys in sight. Scores
  // of keys that a query does not see are not used.
  void MultiplyByAll(const Block& b, Read vectors, const float* transposed,
                     float* result) const {
    Multiply({.left = {vectors[b.first], vectors.step, 1},
              .right = {transposed, line_},
              .result = {result, line_},
              .m = b.count,
              .n = RoundedUp(b.seen_by_any()),
              .k = sizes_.size});
  }

  void ComputeShares(const Block& b, Read q) const {
    MultiplyByAll(b, q, keys_, shares_);
    for (int64_t i = 0; i < b.count; ++i) {
      RunByWidth<SharesLine<Vector>, SharesLine<HalfVector>>(
          shares_ + i * line_, b.SeenBy(i));
    }
  }

  // The gradients by the products of queries and keys.
  void ComputeSlopes(const Block& b, Read dy) const {
    MultiplyByAll(b, dy, values_, slopes_);
    for (int64_t i = 0; i < b.count; ++i) {
      RunVectorised<ScoreGradientLine>(
          static_cast<const float*>(shares_ + i * line_), slopes_ + i * line_,
          b.SeenBy(i), scale());
    }
  }

  // result_i = sum_j weights_ij vectors_j
  void SumOverKeys(const Block& b, const float* weights, Read vectors,
                   Write result) const {
    BlockProduct product = {.left = {weights, line_, 1},
                            .right = {vectors.first, vectors.step},
                            .result = {result[b.first], result.step},
                            .m = b.count,
                            .n = sizes_.size,
                            .k = b.seen_by_all()};
    if (product.k > 0) Multiply(product);
    if (!b.causal) return;
    product.left.at += b.first;
    product.right.at = vectors[b.first];
    product.adds = product.k > 0;
    product.k = b.count;
    product.part = BlockProduct::Part::kLower;
    Multiply(product);
  }

  // result_j += sum_i weights_ij vectors_i; where this block is the first that
  // sees key j, nothing is there to be added to.
  void AddOverQueries(const Block& b, const float* weights, Read vectors,
                      Write result) const {
    BlockProduct product = {.left = {weights, 1, line_},
                            .right = {vectors[b.first], vectors.step},
                            .result = {result.first, result.step},
                            .m = b.seen_by_all(),
                            .n = sizes_.size,
                            .k = b.count,
                            .adds = b.first > 0};
    if (product.m > 0) Multiply(product);
    if (!b.causal) return;
    product.adds = false;
    product.left.at += b.first;
    product.result.at = result[b.first];
    product.m = b.count;
    product.part = BlockProduct::Part::kUpper;
    Multiply(product);
  }

  const Sizes& sizes_;
  int64_t line_;
  float* keys_;    // transposed, times scale
  float* shares_;  // a line for each query of a block
  float* values_;  // transposed
  float* slopes_;
};

class AttentionKernel : public BoundKernel {
 public:
  AttentionKernel(const OpView& node, int threads)
      : sizes_(node), threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    float* const workspace = static_cast<float*>(args.workspace);
    const int64_t heads = sizes_.samples * sizes_.heads;
    RunShares(threads_, heads, [&](int thread, int64_t begin, int64_t end) {
      const Head head(sizes_, workspace + thread * sizes_.ThreadFloats());
      for (int64_t i = begin; i < end; ++i) {
        Compute(head, i / sizes_.heads, i % sizes_.heads, args);
      }
    });
    return absl::OkStatus();
  }

 private:
  void Compute(const Head& head, int64_t sample, int64_t h,
               const LaunchArgs& args) const {
    const int64_t alone =
        sample * sizes_.positions * sizes_.step() + h * sizes_.size;
    const float* x =
        static_cast<const float*>(args.operands[0]) + PackedOffset(sample, h);
    const Read q = Part(x, 0), k = Part(x, 1), v = Part(x, 2);
    if (!sizes_.is_gradient) {
      float* y = static_cast<float*>(args.results[0]) + alone;
      return head.Attend(q, k, v, {y, sizes_.step()});
    }
    const float* dy = static_cast<const float*>(args.operands[1]) + alone;
    float* dx = static_cast<float*>(args.results[0]) + PackedOffset(sample, h);
    head.Differentiate(q, k, v, {dy, sizes_.step()}, Part(dx, 0), Part(dx, 1),
                       Part(dx, 2));
  }

  int64_t PackedOffset(int64_t sample, int64_t h) const {
    return sample * sizes_.positions * sizes_.packed_step() + h * sizes_.size;
  }

  // Queries, keys or values of the head that `x` begins with.
  template <typename Float>
  Vectors<Float> Part(Float* x, int64_t part) const {
    return {x + part * sizes_.step(), sizes_.packed_step()};
  }

  Sizes sizes_;
  int threads_;
};

std::vector<std::string> Layouts(const OpView& node) {
  if (!node.is(kAttention) && !node.is(kAttentionGradient)) return {};
  const TensorType& x = node.operand_type(0);
  if (x.dtype != DType::kF32 || x.num_elements() == 0) return {};
  return {""};
}

int64_t Workspace(const OpView& node, const Layout& layout, int threads) {
  return threads * Sizes(node).ThreadFloats() * int64_t{sizeof(float)};
}

std::unique_ptr<BoundKernel> Bind(const OpView& node, int threads) {
  return std::make_unique<AttentionKernel>(node, threads);
}

}  // namespace

extern const CpuFamily kCpuAttention = {
    .kernel = "cpu.attention",
    .version = 2,
    .bandwidth = 0.5,
    .flops = 0.6,
    .exact = false,
    .fuses_products = true,
    .layouts = Layouts,
    .bind = Bind,
    .workspace = Workspace,
};

}  // namespace partita
