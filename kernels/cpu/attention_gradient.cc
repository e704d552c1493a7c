// The gradient of f32 attention, row-major. Processes a head's queries in
// blocks, with only the keys that they see. As in FlashAttention (Dao et al.
// 2022), scores are recomputed and stay in a core's caches; unlike there, a
// block has a line of all keys at a time. One thread computes all heads that
// share keys. Sums are as in block_product.h and softmax_line.h.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "graph/op_def.h"
#include "kernels/cpu/attention_rows.h"
#include "kernels/cpu/softmax_line.h"
#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/block_product.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

constexpr int kGradient = 3;
constexpr int kMask = 4;

using Read = HeadVectors<const float>;
using Write = HeadVectors<float>;

// Sets the lanes of a line's last vector after `count` elements to `value`.
[[gnu::always_inline]] inline void FillUp(float* line, int64_t count,
                                          float value) {
  if (count % kVector == 0) return;
  float* const last = line + count / kVector * kVector;
  Vector v;
  Load(last, v);
  KeepLanes(v, count % kVector, value);
  Store(v, last);
}

// Turns the scores of the keys that a query sees into probabilities; the
// padding of its last vector becomes 0.
template <typename Part>
struct SharesLine {
  [[gnu::always_inline]] static inline void Run(float* line, int64_t count) {
    FillUp(line, count, -HUGE_VALF);
    SoftmaxLine<false, Part>::Run(line, line, WholeVectors(count));
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

// Times the derivative of a softcap: 1 - tanh^2.
struct SoftcapGradientLine {
  [[gnu::always_inline]] static inline void Run(const float* tanhs, float* ds,
                                                int64_t count) {
    for (int64_t i = 0; i < count; i += kVector) {
      Vector t, slope;
      Load(tanhs + i, t);
      Load(ds + i, slope);
      slope *= 1.0f - t * t;
      Store(slope, ds + i);
    }
  }
};

// Floats in a line of scores: one vector more than needed, so that lines do not
// all map to the same sets of a cache.
int64_t LineOf(const AttentionNode& a) {
  return WholeVectors(a.keys) + kVector;
}

// One head's operands and results; `mask` belongs to the head's first query.
struct HeadTensors {
  Read q, k, v, dy;
  const float* mask;
  Write dq, dk, dv;
};

// Adds to the gradients of keys and values, in scratch of Floats().
class HeadGradient {
 public:
  static int64_t Floats(const AttentionNode& a) {
    const int64_t lines = a.size + a.value_size + 2 * kBlockQueries +
                          (a.softcap > 0 ? kBlockQueries : 0);
    return lines * LineOf(a);
  }

  HeadGradient(const AttentionNode& a, float* scratch)
      : a_(a), line_(LineOf(a)) {
    keys_ = scratch;
    values_ = keys_ + a.size * line_;
    shares_ = values_ + a.value_size * line_;
    slopes_ = shares_ + kBlockQueries * line_;
    tanhs_ = slopes_ + kBlockQueries * line_;
  }

  void Transpose(const HeadTensors& t) const {
    RunVectorised<ScaledTranspose>(t.k, a_.keys, a_.size, a_.FirstScale(),
                                   keys_, line_);
    RunVectorised<ScaledTranspose>(t.v, a_.keys, a_.value_size, 1.0f, values_,
                                   line_);
  }

  void Add(const HeadTensors& t) const {
    for (int64_t i = 0; i < a_.queries; i += kBlockQueries) {
      const QueryBlock b(a_, i, std::min(kBlockQueries, a_.queries - i));
      ComputeShares(b, t);
      ComputeSlopes(b, t);
      SumOverKeys(b, t);
      AddOverQueries(b, slopes_, t.q, a_.size, t.dk);
      AddOverQueries(b, shares_, t.dy, a_.value_size, t.dv);
    }
  }

 private:
  int64_t SeenBy(const QueryBlock& b, int64_t i) const {
    return a_.Seen(b.first + i);
  }

  // result = vectors times the matrix of Transpose, for all visible keys.
  // Scores of invisible keys are not used.
  void MultiplyByAll(const QueryBlock& b, Read vectors, int64_t size,
                     const float* transposed, float* result) const {
    Multiply({.left = {vectors[b.first], vectors.step, 1},
              .right = {transposed, line_},
              .result = {result, line_},
              .m = b.count,
              .n = WholeVectors(b.seen()),
              .k = size});
  }

  void ComputeShares(const QueryBlock& b, const HeadTensors& t) const {
    MultiplyByAll(b, t.q, a_.size, keys_, shares_);
    for (int64_t i = 0; i < b.count; ++i) {
      float* const line = shares_ + i * line_;
      if (a_.softcap > 0) {
        RunVectorised<SoftcapLine>(line, tanhs_ + i * line_,
                                   WholeVectors(b.seen()), a_.softcap);
      }
      if (a_.has_mask) AddMask(t.mask + (b.first + i) * a_.mask.query, b, line);
      ComputeLine(line, SeenBy(b, i));
    }
  }

  void AddMask(const float* mask, const QueryBlock& b, float* line) const {
    for (int64_t j = 0; j < b.seen(); ++j) line[j] += mask[j * a_.mask.key];
  }

  void ComputeLine(float* line, int64_t seen) const {
    const bool blind =
        a_.zero_blind && a_.has_mask &&
        std::all_of(line, line + seen, [](float s) { return s == -HUGE_VALF; });
    if (blind) {
      std::fill_n(line, WholeVectors(seen), 0.0f);
    } else {
      RunByWidth<SharesLine<Vector>, SharesLine<HalfVector>>(line, seen);
    }
  }

  // The gradients by the products of queries and keys.
  void ComputeSlopes(const QueryBlock& b, const HeadTensors& t) const {
    MultiplyByAll(b, t.dy, a_.value_size, values_, slopes_);
    for (int64_t i = 0; i < b.count; ++i) {
      RunVectorised<ScoreGradientLine>(
          static_cast<const float*>(shares_ + i * line_), slopes_ + i * line_,
          SeenBy(b, i), a_.scale);
      if (a_.softcap == 0) continue;
      RunVectorised<SoftcapGradientLine>(
          static_cast<const float*>(tanhs_ + i * line_), slopes_ + i * line_,
          SeenBy(b, i));
    }
  }

  // dq_i = sum_j slopes_ij k_j
  void SumOverKeys(const QueryBlock& b, const HeadTensors& t) const {
    BlockProduct product = {.left = {slopes_, line_, 1},
                            .right = {t.k.first, t.k.step},
                            .result = {t.dq[b.first], t.dq.step},
                            .m = b.count,
                            .n = a_.size,
                            .k = b.square};
    if (product.k > 0) Multiply(product);
    if (b.side == 0) return;
    product.left.at += b.square;
    product.right.at = t.k[b.square];
    product.adds = product.k > 0;
    product.k = b.side;
    product.m = b.side;
    product.part = BlockProduct::Part::kLower;
    Multiply(product);
    if (b.side == b.count) return;
    product.left.at += b.side * line_;
    product.result.at += b.side * t.dq.step;
    product.m = b.count - b.side;
    product.part = BlockProduct::Part::kWhole;
    Multiply(product);
  }

  // result_j += sum_i weights_ij vectors_i
  void AddOverQueries(const QueryBlock& b, const float* weights, Read vectors,
                      int64_t size, Write result) const {
    BlockProduct product = {.left = {weights, 1, line_},
                            .right = {vectors[b.first], vectors.step},
                            .result = {result.first, result.step},
                            .m = b.square,
                            .n = size,
                            .k = b.count,
                            .adds = true};
    if (product.m > 0) Multiply(product);
    if (b.side == 0) return;
    product.left.at += b.square;
    product.result.at = result[b.square];
    product.m = b.side;
    product.k = b.side;
    product.part = BlockProduct::Part::kUpper;
    Multiply(product);
    if (b.side == b.count) return;
    product.left.at += b.side * line_;
    product.right.at += b.side * vectors.step;
    product.k = b.count - b.side;
    product.part = BlockProduct::Part::kWhole;
    Multiply(product);
  }

  const AttentionNode& a_;
  int64_t line_;
  float* keys_;    // transposed, times scale
  float* values_;  // transposed
  float* shares_;  // a line for each query of a block
  float* slopes_;
  float* tanhs_;  // where there is a softcap
};

class AttentionGradientKernel : public Kernel {
 public:
  AttentionGradientKernel(const OpView& node, int threads)
      : a_(node, kMask), threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    float* const workspace = static_cast<float*>(args.workspace);
    ParallelForRanges(threads_, a_.samples * a_.kv_heads,
                      [&](int thread, int64_t begin, int64_t end) {
                        const HeadGradient gradient(
                            a_, workspace + thread * HeadGradient::Floats(a_));
                        for (int64_t i = begin; i < end; ++i) {
                          Compute(gradient, i / a_.kv_heads, i % a_.kv_heads,
                                  args);
                        }
                      });
    return absl::OkStatus();
  }

 private:
  // All heads that share keys.
  void Compute(const HeadGradient& gradient, int64_t sample, int64_t kv,
               const LaunchArgs& args) const {
    for (int64_t h = kv * a_.group(); h < (kv + 1) * a_.group(); ++h) {
      const HeadTensors tensors = TensorsOf(sample, h, args);
      if (h == kv * a_.group()) {
        gradient.Transpose(tensors);
        Clear(tensors.dk, a_.size);
        Clear(tensors.dv, a_.value_size);
      }
      gradient.Add(tensors);
    }
  }

  void Clear(Write vectors, int64_t size) const {
    for (int64_t j = 0; j < a_.keys; ++j) std::fill_n(vectors[j], size, 0.0f);
  }

  HeadTensors TensorsOf(int64_t sample, int64_t h,
                        const LaunchArgs& args) const {
    const auto operand = [&](int i, const AttentionStrides& strides,
                             int64_t head) {
      return VectorsOf(static_cast<const float*>(args.operands[i]), strides,
                       sample, head);
    };
    const auto result = [&](int i, const AttentionStrides& strides,
                            int64_t head) {
      return VectorsOf(static_cast<float*>(args.results[i]), strides, sample,
                       head);
    };
    const int64_t kv = h / a_.group();
    const float* mask = nullptr;
    if (a_.has_mask) {
      mask = static_cast<const float*>(args.operands[kMask]) +
             sample * a_.mask.sample + h * a_.mask.head;
    }
    return {operand(0, a_.q, h),
            operand(1, a_.k, kv),
            operand(2, a_.v, kv),
            operand(kGradient, a_.y, h),
            mask,
            result(0, a_.q, h),
            result(1, a_.k, kv),
            result(2, a_.v, kv)};
  }

  AttentionNode a_;
  int threads_;
};

}  // namespace

std::unique_ptr<Kernel> BindAttentionGradient(const OpView& node, int threads) {
  return std::make_unique<AttentionGradientKernel>(node, threads);
}

int64_t AttentionGradientWorkspace(const OpView& node, int threads) {
  return threads * HeadGradient::Floats(AttentionNode(node, kMask)) *
         int64_t{sizeof(float)};
}

}  // namespace partita
