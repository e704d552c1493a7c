// cpu.softmax: f32 softmax and log-softmax along any axis, row-major. A line
// with a NaN or plus infinity is NaN all over. Sums are in f32, in a tree that
// depends on the shape only.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cmath>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/vector_code.h"

namespace partita {
namespace {

// Lines next to each other, or strands of one line.
constexpr int kLanes = 16;

// e^x for x <= 0; a NaN stays.
[[gnu::always_inline]] inline float ExpOf(float x) {
  // ln 2 in two parts, the first of which has exact products with integers;
  // adding 1.5 * 2^23 rounds, and leaves the integer in the low bits.
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440054690583e-4f;
  constexpr float kMagic = 12582912;
  const float bounded = x < -104.0f ? -104.0f : x;
  const float shifted = bounded * 1.44269504f + kMagic;
  const float n = shifted - kMagic;
  const float r = (bounded - n * kLn2High) - n * kLn2Low;
  const float tail =
      ((((1.0f / 5040 * r + 1.0f / 720) * r + 1.0f / 120) * r + 1.0f / 24) * r +
       1.0f / 6) *
          r +
      0.5f;
  const float value = (r * r * tail + r) + 1;
  // 2^n in two steps: alone it may be too small for an f32.
  const int32_t whole = static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) -
                                             std::bit_cast<uint32_t>(kMagic));
  const int32_t half = whole >> 1;
  const auto power = [](uint32_t n) {
    return std::bit_cast<float>((n + 127u) << 23);
  };
  const uint32_t rest =
      static_cast<uint32_t>(whole) - static_cast<uint32_t>(half);
  return value * power(static_cast<uint32_t>(half)) * power(rest);
}

// Element (i, lane) of `count` times kLanes, or fewer lanes, lies at
// i * step + lane.
struct Lines {
  const float* x;
  float* y;
  int64_t count;
  int64_t step;
  int lanes;
};

struct LanesOf {
  float values[kLanes];
};

[[gnu::always_inline]] inline void TopOf(const Lines& l, LanesOf& top) {
  for (int64_t i = 0; i < l.count; ++i) {
    const float* x = l.x + i * l.step;
#pragma omp simd
    for (int j = 0; j < l.lanes; ++j) {
      top.values[j] = x[j] > top.values[j] ? x[j] : top.values[j];
    }
  }
}

// Adds e^(x - top), and stores it if asked to.
template <bool stores>
[[gnu::always_inline]] inline void SumOf(const Lines& l, const LanesOf& top,
                                         LanesOf& sum) {
  for (int64_t i = 0; i < l.count; ++i) {
    const float* x = l.x + i * l.step;
    float* y = l.y + i * l.step;
#pragma omp simd
    for (int j = 0; j < l.lanes; ++j) {
      const float e = ExpOf(x[j] - top.values[j]);
      if constexpr (stores) y[j] = e;
      sum.values[j] += e;
    }
  }
}

template <bool logarithm>
[[gnu::always_inline]] inline void Finish(const Lines& l, const LanesOf& top,
                                          const LanesOf& by) {
  for (int64_t i = 0; i < l.count; ++i) {
    const float* x = l.x + i * l.step;
    float* y = l.y + i * l.step;
#pragma omp simd
    for (int j = 0; j < l.lanes; ++j) {
      if constexpr (logarithm) {
        y[j] = (x[j] - top.values[j]) - by.values[j];
      } else {
        y[j] *= by.values[j];
      }
    }
  }
}

// What every element is divided by, or has subtracted.
template <bool logarithm>
float Scale(float sum) {
  return logarithm ? static_cast<float>(std::log(static_cast<double>(sum)))
                   : 1 / sum;
}

// Several lines side by side.
template <bool logarithm>
struct Columns {
  [[gnu::always_inline]] static inline void Run(Lines l) {
    LanesOf top, sum;
    std::fill_n(top.values, kLanes, -HUGE_VALF);
    std::fill_n(sum.values, kLanes, 0.0f);
    TopOf(l, top);
    SumOf<!logarithm>(l, top, sum);
    for (float& s : sum.values) s = Scale<logarithm>(s);
    Finish<logarithm>(l, top, sum);
  }
};

// One line of `count` elements in strands, and a rest that is none.
template <bool logarithm>
struct OneLine {
  [[gnu::always_inline]] static inline void Run(const float* x, float* y,
                                                int64_t count) {
    const Lines whole = {x, y, count / kLanes, kLanes, kLanes};
    const int64_t done = whole.count * kLanes;
    const Lines rest = {x + done, y + done, 1, kLanes,
                        static_cast<int>(count - done)};
    LanesOf top, sum;
    std::fill_n(top.values, kLanes, -HUGE_VALF);
    std::fill_n(sum.values, kLanes, 0.0f);
    TopOf(whole, top);
    TopOf(rest, top);
    std::fill_n(top.values, kLanes,
                *std::max_element(top.values, top.values + kLanes));
    SumOf<!logarithm>(whole, top, sum);
    SumOf<!logarithm>(rest, top, sum);
    for (int width = kLanes / 2; width > 0; width /= 2) {
      for (int j = 0; j < width; ++j) sum.values[j] += sum.values[j + width];
    }
    std::fill_n(sum.values, kLanes, Scale<logarithm>(sum.values[0]));
    Finish<logarithm>(whole, top, sum);
    Finish<logarithm>(rest, top, sum);
  }
};

class SoftmaxKernel : public BoundKernel {
 public:
  SoftmaxKernel(const OpView& node, int threads)
      : logarithm_(node.is(kLogSoftmax)), threads_(threads) {
    const Shape& dims = node.operand_type(0).dims;
    int64_t axis = node.attr_int("axis");
    if (axis < 0) axis += static_cast<int64_t>(dims.size());
    extent_ = dims[axis];
    for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
      if (i != axis) (i < axis ? outer_ : inner_) *= dims[i];
    }
  }

  absl::Status Launch(const LaunchArgs& args) override {
    const float* x = static_cast<const float*>(args.operands[0]);
    float* y = static_cast<float*>(args.results[0]);
    logarithm_ ? Run<true>(x, y) : Run<false>(x, y);
    return absl::OkStatus();
  }

 private:
  template <bool logarithm>
  void Run(const float* x, float* y) const {
    const int64_t tiles = (inner_ + kLanes - 1) / kLanes;
    const int team = outer_ * inner_ * extent_ < (8 << 10) ? 1 : threads_;
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
    for (int64_t i = 0; i < outer_ * tiles; ++i) {
      const int64_t column = i % tiles * kLanes;
      const int64_t at = i / tiles * extent_ * inner_ + column;
      if (inner_ == 1) {
        RunVectorised<OneLine<logarithm>>(x + at, y + at, extent_);
      } else {
        const int lanes =
            static_cast<int>(std::min<int64_t>(kLanes, inner_ - column));
        RunVectorised<Columns<logarithm>>(
            Lines{x + at, y + at, extent_, inner_, lanes});
      }
    }
  }

  bool logarithm_;
  int64_t outer_ = 1;
  int64_t extent_ = 1;
  int64_t inner_ = 1;
  int threads_;
};

std::vector<std::string> Layouts(const OpView& node) {
  const bool known = node.is(kSoftmax) || node.is(kLogSoftmax);
  if (!known || node.operand_type(0).dtype != DType::kF32 ||
      node.operand_type(0).num_elements() == 0 ||
      node.operand_type(0).rank() == 0) {
    return {};
  }
  return {""};
}

std::unique_ptr<BoundKernel> Bind(const OpView& node, int threads) {
  return std::make_unique<SoftmaxKernel>(node, threads);
}

}  // namespace

extern const CpuFamily kCpuSoftmax = {
    .kernel = "cpu.softmax",
    .bandwidth = 0.4,
    .exact = false,
    .layouts = Layouts,
    .bind = Bind,
    .in_place = true,
};

}  // namespace partita
