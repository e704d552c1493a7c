// cpu.attention: f32 attention, row-major, and the family with its gradient. As
// in FlashAttention (Dao et al. 2022), a block of queries goes through the
// blocks of keys in sequence, and a running softmax rescales the sums so far,
// so scores stay in a core's caches. Scores are stored as [key, query]: keys
// need no transposing, and 16 queries share the lanes of one softmax.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/attention_loops.h"
#include "kernels/cpu/attention_rows.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/block_product.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

constexpr int kMask = 3;
// The most keys of a block. A multiple of 6, like the size of all blocks but
// the last: a product computes 6 rows at a time.
constexpr int64_t kBlockKeys = 96;
constexpr int64_t kFewQueries = 4;

// Queries that are processed together: those of one head, or of all heads that
// share keys, if these are few and see the same keys.
struct Strips {
  explicit Strips(const AttentionNode& a)
      : joined(a.group() > 1 && a.group() * a.queries <= kBlockQueries &&
               a.Seen(0) == a.keys),
        heads(joined ? a.group() : 1),
        rows(heads * a.queries),
        blocks((rows + kBlockQueries - 1) / kBlockQueries),
        count(a.samples * a.heads / heads * blocks) {}

  bool joined;
  int64_t heads;   // queries' heads in a strip
  int64_t rows;    // in a strip
  int64_t blocks;  // in a strip
  int64_t count;   // blocks in all strips
};

// The tensors of a launch.
struct Tensors {
  const float* q;
  const float* k;
  const float* v;
  const float* mask;
  float* y;
};

// One block of queries with all of their keys, in scratch of Floats().
class BlockAttention {
 public:
  static int64_t Floats(const AttentionNode& a) {
    return a.size * kQueryLine + kBlockKeys * kQueryLine +
           kBlockQueries * ValueLine(a) + 3 * kQueryLine;
  }

  BlockAttention(const AttentionNode& a, const Strips& strips,
                 const Tensors& tensors, float* scratch)
      : a_(a), strips_(strips), tensors_(tensors), value_line_(ValueLine(a)) {
    queries_ = scratch;
    scores_ = queries_ + a.size * kQueryLine;
    sums_ = scores_ + kBlockKeys * kQueryLine;
    tops_ = sums_ + kBlockQueries * value_line_;
    totals_ = tops_ + kQueryLine;
    factors_ = totals_ + kQueryLine;
  }

  void Run(int64_t block) {
    Locate(block);
    if (!IsFew()) LoadQueries();
    std::fill_n(tops_, lanes_, -HUGE_VALF);
    std::fill_n(totals_, lanes_, 0.0f);
    const QueryBlock b = Queries();
    const int64_t step = KeysOfBlock(b.square);
    for (int64_t j = 0; j < b.square; j += step) {
      const int64_t keys = std::min(step, b.square - j);
      Score(j, keys);
      Soften(keys, /*first=*/j == 0);
      AddValues(0, count_, j, keys, BlockProduct::Part::kWhole, j > 0);
    }
    if (b.side > 0) AddSquare(b);
    StoreResults();
  }

 private:
  static int64_t ValueLine(const AttentionNode& a) {
    return WholeVectors(a.value_size) + kVector;
  }

  // Splits all keys as evenly as possible.
  static int64_t KeysOfBlock(int64_t keys) {
    const int64_t blocks = (keys + kBlockKeys - 1) / kBlockKeys;
    const int64_t even = blocks > 0 ? (keys + blocks - 1) / blocks : 1;
    return (even + 5) / 6 * 6;
  }

  void Locate(int64_t block) {
    const int64_t strip = block / strips_.blocks;
    const int64_t strips = a_.heads / strips_.heads;  // in a sample
    sample_ = strip / strips;
    first_head_ = strip % strips * strips_.heads;
    first_ = block % strips_.blocks * kBlockQueries;
    count_ = std::min(kBlockQueries, strips_.rows - first_);
    lanes_ = WholeVectors(count_);
  }

  // In a joined strip, all queries see all keys.
  QueryBlock Queries() const {
    QueryBlock b(a_, first_, count_);
    if (strips_.joined) {
      b.square = a_.keys;
      b.side = 0;
    }
    return b;
  }

  int64_t HeadOf(int64_t row) const { return first_head_ + row / a_.queries; }
  int64_t QueryOf(int64_t row) const { return row % a_.queries; }

  HeadVectors<const float> Keys() const {
    return VectorsOf(tensors_.k, a_.k, sample_, first_head_ / a_.group());
  }
  HeadVectors<const float> Values() const {
    return VectorsOf(tensors_.v, a_.v, sample_, first_head_ / a_.group());
  }

  // Head by head, as [size, queries]. The next head overwrites the padding
  // after a head's queries.
  void LoadQueries() const {
    for (int64_t i = 0; i < count_;) {
      const int64_t query = QueryOf(first_ + i);
      const int64_t count = std::min(count_ - i, a_.queries - query);
      const HeadVectors<const float> q =
          VectorsOf(tensors_.q, a_.q, sample_, HeadOf(first_ + i));
      RunVectorised<ScaledTranspose>(HeadVectors<const float>{q[query], q.step},
                                     count, a_.size, a_.FirstScale(),
                                     queries_ + i, kQueryLine);
      i += count;
    }
  }

  // As in a decoder's step. Whole vectors of queries would be mostly padding.
  bool IsFew() const { return count_ <= kFewQueries; }

  void ScoreAll(int64_t first, int64_t keys) const {
    const HeadVectors<const float> k = Keys();
    Multiply({.left = {k[first], k.step, 1},
              .right = {queries_, kQueryLine},
              .result = {scores_, kQueryLine},
              .m = keys,
              .n = lanes_,
              .k = a_.size});
  }

  void ScoreEach(int64_t first, int64_t keys) const {
    const HeadVectors<const float> k = Keys();
    for (int64_t j = 0; j < keys; ++j) {
      std::fill_n(scores_ + j * kQueryLine, lanes_, 0.0f);
    }
    for (int64_t i = 0; i < count_; ++i) {
      const HeadVectors<const float> q =
          VectorsOf(tensors_.q, a_.q, sample_, HeadOf(first_ + i));
      RunByWidth<ScoreOneQuery<Vector>, ScoreOneQuery<HalfVector>>(
          OneQuery{q[QueryOf(first_ + i)], k[first], k.step, keys, a_.size,
                   a_.FirstScale(), scores_ + i});
    }
  }

  // For keys [first, first + keys).
  void Score(int64_t first, int64_t keys) const {
    IsFew() ? ScoreEach(first, keys) : ScoreAll(first, keys);
    if (a_.softcap > 0) {
      for (int64_t j = 0; j < keys; ++j) {
        RunVectorised<SoftcapLine>(scores_ + j * kQueryLine,
                                   static_cast<float*>(nullptr), lanes_,
                                   a_.softcap);
      }
    }
    if (a_.has_mask) AddMask(first, keys);
  }

  const float* MaskOf(int64_t row, int64_t key) const {
    return tensors_.mask + sample_ * a_.mask.sample +
           HeadOf(row) * a_.mask.head + QueryOf(row) * a_.mask.query +
           key * a_.mask.key;
  }

  void AddMask(int64_t first, int64_t keys) const {
    if (a_.mask.query == 0 && (a_.mask.head == 0 || strips_.heads == 1)) {
      for (int64_t j = 0; j < keys; ++j) {
        RunVectorised<AddToLine>(scores_ + j * kQueryLine, lanes_,
                                 *MaskOf(first_, first + j));
      }
      return;
    }
    for (int64_t i = 0; i < count_; i += kVector) {
      for (int64_t j = 0; j < keys; j += kVector) {
        AddMaskTo(i, first, j, std::min(kVector, keys - j));
      }
    }
  }

  // For 16 queries from row i on, and `keys` keys from `first` + j on.
  void AddMaskTo(int64_t i, int64_t first, int64_t j, int64_t keys) const {
    const int64_t count = std::min(kVector, count_ - i);
    const float* rows[kVector];
    float repeated[kVector][kVector];  // a mask that is the same for all keys
    for (int64_t r = 0; r < count; ++r) {
      rows[r] = MaskOf(first_ + i + r, first + j);
      if (a_.mask.key != 0) continue;
      std::fill_n(repeated[r], kVector, *rows[r]);
      rows[r] = repeated[r];
    }
    RunVectorised<AddMaskTile>(static_cast<const float* const*>(rows), count,
                               keys, scores_ + j * kQueryLine + i);
  }

  // Turns scores into powers and rescales the existing sums.
  void Soften(int64_t keys, bool first) const {
    const ScoreBlock block = {scores_, keys, lanes_, tops_, totals_, factors_};
    RunByWidth<RunningSoftmax<Vector>, RunningSoftmax<HalfVector>>(block);
    if (first) return;
    RunByWidth<ScaleRows<Vector>, ScaleRows<HalfVector>>(
        ScaledRows{factors_, count_, a_.value_size, sums_, value_line_});
  }

  // For rows [row, row + rows) of the block.
  void AddValues(int64_t row, int64_t rows, int64_t first, int64_t keys,
                 BlockProduct::Part part, bool adds) const {
    const HeadVectors<const float> v = Values();
    Multiply({.left = {scores_ + row, 1, kQueryLine},
              .right = {v[first], v.step},
              .result = {sums_ + row * value_line_, value_line_},
              .m = rows,
              .n = a_.value_size,
              .k = keys,
              .adds = adds,
              .part = part});
  }

  // The block on the diagonal: a query sees the keys up to its own. Other keys
  // must not change its result, even if they are NaN.
  void AddSquare(const QueryBlock& b) const {
    Score(b.square, b.side);
    for (int64_t j = 1; j < b.side; ++j) {
      std::fill_n(scores_ + j * kQueryLine, j, -HUGE_VALF);
    }
    const bool adds = b.square > 0;
    Soften(b.side, /*first=*/!adds);
    AddValues(0, b.side, b.square, b.side, BlockProduct::Part::kLower, adds);
    if (b.side == b.count) return;
    AddValues(b.side, b.count - b.side, b.square, b.side,
              BlockProduct::Part::kWhole, adds);
  }

  // A query that sees no key has a sum of 0, and 0 times infinity is NaN.
  void StoreResults() const {
    for (int64_t i = 0; i < count_; ++i) {
      const int64_t row = first_ + i;
      const HeadVectors<float> y =
          VectorsOf(tensors_.y, a_.y, sample_, HeadOf(row));
      if (totals_[i] == 0 && a_.zero_blind) {
        std::fill_n(y[QueryOf(row)], a_.value_size, 0.0f);
      } else {
        RunByWidth<ScaleRow<Vector>, ScaleRow<HalfVector>>(
            static_cast<const float*>(sums_ + i * value_line_), 1 / totals_[i],
            a_.value_size, y[QueryOf(row)]);
      }
    }
  }

  const AttentionNode& a_;
  const Strips& strips_;
  const Tensors& tensors_;
  int64_t value_line_;
  float* queries_;  // [size, queries], scaled
  float* scores_;   // [keys, queries]
  float* sums_;     // [queries, value size]
  float* tops_;
  float* totals_;
  float* factors_;
  // The current block.
  int64_t sample_ = 0;
  int64_t first_head_ = 0;
  int64_t first_ = 0;  // its first row in the strip
  int64_t count_ = 0;
  int64_t lanes_ = 0;
};

class AttentionKernel : public Kernel {
 public:
  AttentionKernel(const OpView& node, int threads)
      : a_(node, kMask), strips_(a_), threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    float* const workspace = static_cast<float*>(args.workspace);
    const Tensors tensors = {
        static_cast<const float*>(args.operands[0]),
        static_cast<const float*>(args.operands[1]),
        static_cast<const float*>(args.operands[2]),
        a_.has_mask ? static_cast<const float*>(args.operands[kMask]) : nullptr,
        static_cast<float*>(args.results[0])};
    ParallelForRanges(threads_, strips_.count,
                      [&](int thread, int64_t begin, int64_t end) {
                        BlockAttention attention(
                            a_, strips_, tensors,
                            workspace + thread * BlockAttention::Floats(a_));
                        for (int64_t i = begin; i < end; ++i) attention.Run(i);
                      });
    return absl::OkStatus();
  }

 private:
  AttentionNode a_;
  Strips strips_;
  int threads_;
};

bool Accepts(const OpView& node) {
  return (node.is(kAttention) || node.is(kAttentionGradient)) &&
         OperandsAreF32(node);
}

int64_t Workspace(const OpView& node, const Layout& layout, int threads) {
  if (node.is(kAttentionGradient)) {
    return AttentionGradientWorkspace(node, threads);
  }
  return threads * BlockAttention::Floats(AttentionNode(node, kMask)) *
         int64_t{sizeof(float)};
}

std::unique_ptr<Kernel> Bind(const OpView& node, int threads) {
  if (node.is(kAttentionGradient)) return BindAttentionGradient(node, threads);
  return std::make_unique<AttentionKernel>(node, threads);
}

}  // namespace

extern const CpuFamily kCpuAttention = {
    .kernel = "cpu.attention",
    .version = 3,
    .bandwidth = 0.5,
    .flops = 0.6,
    .exact = false,
    .fuses_products = true,
    .layouts = RowMajorIf<Accepts>,
    .bind = Bind,
    .workspace = Workspace,
};

}  // namespace partita
