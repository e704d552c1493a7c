// One function for each part of a pattern; random choices decide how it is
// written.
// SPDX-License-Identifier: Apache-2.0

#include "tests/passes/drawn_spellings.h"

#include <functional>
#include <limits>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/ops.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A graph under construction, and its random choices.
class Draft {
 public:
  explicit Draft(uint64_t seed) : bits_(seed), builder_("drawn") {}

  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(bits_() % (high - low + 1));
  }
  bool OneIn(int64_t n) { return Between(1, n) == 1; }

  Tensor Input(DType dtype, const Shape& dims) {
    return builder_.Input(absl::StrCat("x", inputs_++), dtype, dims);
  }
  Tensor Constant(DType dtype, const Shape& dims,
                  const std::function<double(int64_t)>& element) {
    HostTensor tensor(TensorType{dtype, dims, {}});
    for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
      SetFromDouble(tensor, i, element(i));
    }
    return builder_.Constant(std::move(tensor));
  }
  // With one element, and now and then several dimensions.
  Tensor Number(double value, int64_t max_rank) {
    const Shape dims(OneIn(3) ? Between(0, max_rank) : 0, 1);
    return Constant(DType::kF32, dims, [&](int64_t) { return value; });
  }
  // a op b or b op a.
  Tensor EitherWay(const OpDef& op, Tensor a, Tensor b) {
    if (OneIn(2)) std::swap(a, b);
    return Maybe(Op(op, {a, b}));
  }
  // Maybe with another reader.
  Tensor Maybe(Tensor x) {
    if (OneIn(80)) builder_.Output(absl::StrCat("more", ++outputs_), x);
    return x;
  }
  Module Finish(Tensor y) {
    builder_.Output("y", y);
    return builder_.Build().value();
  }

 private:
  std::mt19937_64 bits_;
  GraphBuilder builder_;
  int inputs_ = 0;
  int outputs_ = 0;
};

Tensor Ordinary(Draft& d, Tensor x, const OpDef& op) {
  return d.Maybe(Op(op, {x}));
}

class AttentionDraft {
 public:
  explicit AttentionDraft(uint64_t seed)
      : d_(seed),
        in_three_(d_.OneIn(4)),
        rows_(d_.OneIn(2)),
        group_(in_three_ || d_.OneIn(2) ? 1 : d_.Between(2, 3)),
        n_(d_.Between(1, 3)),
        heads_(group_ * d_.Between(1, 2)),
        queries_(d_.Between(1, 5)),
        keys_(d_.OneIn(2) ? queries_ : d_.Between(1, 5)),
        size_(d_.OneIn(3) ? keys_ : d_.Between(1, 4)),
        value_size_(d_.OneIn(2) ? size_ : d_.Between(1, 4)) {}

  Module Draw() {
    Tensor s = Scaled(Scores());
    if (d_.OneIn(4)) s = Capped(s);
    if (d_.OneIn(20)) s = Scaled(s);
    for (int64_t masks = d_.Between(0, 8); masks > 0; masks -= 6) s = Masked(s);
    if (d_.OneIn(20)) s = Scaled(s);
    const int64_t rank = s.rank();
    const int64_t axis = d_.OneIn(16) ? d_.Between(0, rank - 1) : rank - 1;
    Tensor p = d_.Maybe(Softmax(s, d_.OneIn(2) ? axis : axis - rank));
    if (d_.OneIn(4)) p = WithoutNan(p);
    Tensor y = MatMul(p, Vectors(keys_, value_size_, group_));
    if (in_three_ || d_.OneIn(3)) return d_.Finish(y);
    y = Transpose(d_.Maybe(y), {0, 2, 1, 3});
    return d_.Finish(
        Reshape(d_.Maybe(y), {n_, queries_, heads_ * value_size_}));
  }

 private:
  Ints Dims(int64_t positions, int64_t size) const {
    return in_three_ ? Ints{n_, positions, size}
                     : Ints{n_, heads_, positions, size};
  }

  // Dims(), perhaps computed from [n, positions, heads, size] or from fewer
  // heads.
  Tensor Vectors(int64_t positions, int64_t size, int64_t group) {
    if (in_three_) return d_.Input(DType::kF32, {n_, positions, size});
    const int64_t once = heads_ / group;
    if (!rows_) {
      return Repeated(d_.Input(DType::kF32, {n_, once, positions, size}),
                      group);
    }
    const Tensor x = d_.Input(DType::kF32, {n_, positions, once, size});
    return Repeated(d_.Maybe(Transpose(x, {0, 2, 1, 3})), group);
  }

  // Repeats each head or, which is different, all of them.
  Tensor Repeated(Tensor x, int64_t group) {
    if (group == 1) return x;
    const Shape dims = x.type().dims;
    Ints once = {n_, dims[1], 1, dims[2], dims[3]};
    Ints times = {n_, dims[1], group, dims[2], dims[3]};
    if (d_.OneIn(8)) {
      std::swap(once[1], once[2]);
      std::swap(times[1], times[2]);
    }
    x = d_.Maybe(Reshape(x, once));
    x = d_.Maybe(Op(kExpand, {x}, {{"shape", times}}));
    return d_.Maybe(Reshape(x, {n_, dims[1] * group, dims[2], dims[3]}));
  }

  Tensor Scaled(Tensor x) {
    for (int64_t i = d_.Between(0, 2); i > 0; --i) {
      const Tensor c = d_.Number(d_.OneIn(2) ? 0.5 : 1.25, x.rank());
      x = d_.OneIn(2) ? d_.EitherWay(kMul, x, c) : d_.Maybe(x / c);
    }
    return x;
  }

  Tensor Scores() {
    const Tensor q = Scaled(Vectors(queries_, size_, 1));
    const Tensor k = Vectors(keys_, size_, group_);
    if (d_.OneIn(3)) {
      return d_.Maybe(MatMul(q, Scaled(k), {.transpose_b = true}));
    }
    return d_.Maybe(MatMul(q, Scaled(Transposed(k))));
  }

  Tensor Transposed(Tensor k) {
    if (in_three_) return Transpose(k, {0, 2, 1});
    if (d_.OneIn(2)) return Transpose(k, {0, 1, 3, 2});
    k = Transpose(Reshape(k, {n_ * heads_, keys_, size_}), {0, 2, 1});
    return Reshape(k, {n_, heads_, size_, keys_});
  }

  Tensor Capped(Tensor s) {
    const Tensor cap = d_.Number(2, s.rank());
    s = Ordinary(d_, s / (d_.OneIn(8) ? d_.Number(3, 0) : cap), kTanh);
    return d_.EitherWay(kMul, s, cap);
  }

  // Broadcasts to the scores.
  Shape MaskDims() {
    const Ints scores = Dims(queries_, keys_);
    Shape dims(scores.begin(), scores.end());
    for (int64_t& extent : dims) {
      if (d_.OneIn(3)) extent = 1;
    }
    dims.erase(dims.begin(), dims.begin() + d_.Between(0, 2));
    return dims;
  }

  // Shows earlier positions, or almost.
  Tensor Order(DType dtype, double shows, double hides) {
    const int64_t first = d_.Between(0, keys_);
    const int64_t wrong = d_.OneIn(6) ? d_.Between(0, queries_ * keys_) : -1;
    const Shape dims =
        d_.OneIn(2) ? Shape{queries_, keys_} : Shape{1, queries_, keys_};
    return d_.Constant(dtype, dims, [&](int64_t i) {
      const bool shown = i % keys_ < first + i / keys_;
      return shown != (i == wrong) ? shows : hides;
    });
  }

  Tensor Condition() {
    if (d_.OneIn(3)) return Order(DType::kBool, 1, 0);
    const Tensor some = d_.Input(DType::kBool, MaskDims());
    if (d_.OneIn(2)) return some;
    return d_.EitherWay(kAnd, some, Order(DType::kBool, 1, 0));
  }

  Tensor Masked(Tensor s) {
    constexpr double kHidden[] = {-kInfinity, -kInfinity, -3.4028235e38, -1e31,
                                  -64};
    const double value = kHidden[d_.Between(0, 4)];
    const Tensor hidden = d_.Number(value, s.rank());
    if (d_.OneIn(4)) {
      const bool shows = !d_.OneIn(3);
      return d_.Maybe(shows ? Select(Condition(), s, hidden)
                            : Select(Condition(), hidden, s));
    }
    if (d_.OneIn(3)) {
      return d_.EitherWay(kAdd, s, Order(DType::kF32, 0, value));
    }
    if (d_.OneIn(2)) {
      return d_.EitherWay(kAdd, s, d_.Input(DType::kF32, MaskDims()));
    }
    const Tensor zero = d_.Number(0, 2);
    const Tensor mask = d_.OneIn(4) ? Select(Condition(), hidden, zero)
                                    : Select(Condition(), zero, hidden);
    return d_.EitherWay(kAdd, s, mask);
  }

  Tensor WithoutNan(Tensor p) {
    const Tensor zero = d_.Number(0, p.rank());
    return d_.Maybe(Select(Ordinary(d_, p, kIsNan), zero, p));
  }

  Draft d_;
  bool in_three_, rows_;
  int64_t group_, n_, heads_, queries_, keys_, size_, value_size_;
};

class NormDraft {
 public:
  explicit NormDraft(uint64_t seed) : d_(seed) {
    dims_.resize(d_.Between(1, 4), d_.Between(1, 5));
    square_ = d_.OneIn(4);
    for (int64_t& extent : dims_) {
      if (!square_) extent = d_.Between(1, 5);
    }
  }

  Module Draw() {
    const Tensor x = d_.Input(DType::kF32, dims_);
    const Tensor y = Normalised(x);
    if (d_.OneIn(4)) return d_.Finish(y);
    Shape scale = d_.OneIn(6) ? Shape{dims_.back()} : Rest();
    if (d_.OneIn(3)) scale.insert(scale.begin(), d_.Between(1, 3), 1);
    const Tensor w = d_.Input(DType::kF32, scale);
    return d_.Finish(d_.EitherWay(kMul, y, w));
  }

 private:
  Shape Rest() const { return Shape(dims_.begin() + axis_, dims_.end()); }
  int64_t Rank() const { return static_cast<int64_t>(dims_.size()); }
  // For a number combined with x.
  int64_t MaxRank() { return Rank() + (d_.OneIn(6) ? 1 : 0); }

  Tensor Power(Tensor x, double exponent, int64_t max_rank) {
    return d_.Maybe(Pow(x, d_.Number(exponent, max_rank)));
  }

  Tensor Square(Tensor x) {
    return d_.OneIn(2) ? d_.Maybe(x * x) : Power(x, 2, Rank());
  }

  Tensor Mean(Tensor x) {
    axis_ = d_.Between(0, Rank() - 1);
    Ints axes;
    int64_t count = 1;
    for (int64_t i = Rank() - 1; i >= axis_; --i) {
      if (d_.OneIn(12) && !axes.empty()) continue;
      axes.push_back(d_.OneIn(2) ? i : i - Rank());
      count *= dims_[i];
    }
    if (!d_.OneIn(4)) {
      const bool keep_dims = !square_ || !d_.OneIn(6);
      return d_.Maybe(ReduceMean(Square(x), axes, keep_dims));
    }
    const Tensor sum = d_.Maybe(
        Op(kReduceSumSquare, {x}, {{"axes", axes}, {"keep_dims", true}}));
    return d_.Maybe(
        sum / d_.Number(static_cast<double>(count + (d_.OneIn(8) ? 1 : 0)),
                        MaxRank()));
  }

  Tensor Normalised(Tensor x) {
    const Tensor mean = Mean(x);
    const Tensor shifted = d_.EitherWay(kAdd, mean, d_.Number(0.01, MaxRank()));
    if (d_.OneIn(4))
      return d_.EitherWay(kMul, x, Power(shifted, -0.5, MaxRank()));
    const Tensor root = d_.OneIn(2) ? Ordinary(d_, shifted, kSqrt)
                                    : Power(shifted, 0.5, MaxRank());
    if (d_.OneIn(3)) return d_.Maybe(x / root);
    const Tensor rate = d_.OneIn(2) ? Ordinary(d_, root, kReciprocal)
                                    : d_.Maybe(d_.Number(1, MaxRank()) / root);
    return d_.EitherWay(kMul, x, rate);
  }

  Draft d_;
  Shape dims_;
  bool square_;  // all extents are equal
  int64_t axis_ = 0;
};

}  // namespace

Module DrawnAttention(uint64_t seed) { return AttentionDraft(seed).Draw(); }
Module DrawnRmsNorm(uint64_t seed) { return NormDraft(seed).Draw(); }

}  // namespace partita
