// cpu.max_pool: f32 max pools, row-major, channels last, or in blocks of
// channels. If a window contains NaN, its result is NaN. Padding is ignored.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/pool_image.h"
#include "kernels/cpu/pool_taps.h"
#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

// The larger one; NaN if either is NaN.
[[gnu::always_inline]] inline float Greater(float best, float x) {
  const float greater = x > best ? x : best;
  return x != x ? x : greater;
}

// best[i] = the larger of it and x[i step].
[[gnu::always_inline]] inline void JoinLine(float* best, const float* x,
                                            int64_t step, int64_t count) {
  if (step == 1) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) best[i] = Greater(best[i], x[i]);
  } else if (step == 2) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) best[i] = Greater(best[i], x[2 * i]);
  } else {
    for (int64_t i = 0; i < count; ++i) best[i] = Greater(best[i], x[i * step]);
  }
}

// The same for `inner` neighbours at each of `count` positions, kInner at a
// time, in one register.
template <int kInner>
[[gnu::always_inline]] inline void JoinBlocks(float* best, const float* x,
                                              int64_t step, int64_t inner,
                                              int64_t count) {
  for (int64_t o = 0; o < count; ++o, best += inner, x += step) {
    for (int64_t i = 0; i < inner; i += kInner) {
#pragma omp simd
      for (int j = 0; j < kInner; ++j) {
        best[i + j] = Greater(best[i + j], x[i + j]);
      }
    }
  }
}

// One row of results.
struct PoolRow {
  [[gnu::always_inline]] static inline void Run(const PoolImage* image,
                                                const float* x, int64_t plane,
                                                int64_t row, float* best) {
    const auto& [depth, height, width] = image->axes;
    std::fill_n(best, width.small * image->inner, -HUGE_VALF);
    for (int64_t kd = 0; kd < depth.kernel; ++kd) {
      const int64_t d = depth.ElementAt(row / height.small, kd);
      if (!depth.Has(d)) continue;
      for (int64_t kh = 0; kh < height.kernel; ++kh) {
        const int64_t h = height.ElementAt(row % height.small, kh);
        if (!height.Has(h)) continue;
        const int64_t line = (plane * depth.large + d) * height.large + h;
        Taps(width, image->inner, x + line * width.large * image->inner, best);
      }
    }
    ClearPadding(*image, plane, best);
  }

  // The taps of one line of the window.
  [[gnu::always_inline]] static inline void Taps(const PoolAxis& width,
                                                 int64_t inner,
                                                 const float* line,
                                                 float* best) {
    for (int64_t k = 0; k < width.kernel; ++k) {
      const int64_t first = width.First(k);
      const int64_t count = width.End(k) - first;
      if (count <= 0) continue;
      const float* x = line + width.ElementAt(first, k) * inner;
      float* to = best + first * inner;
      const int64_t step = width.stride * inner;
      if (inner == 1 || width.stride == 1) {
        JoinLine(to, x, inner == 1 ? width.stride : 1, count * inner);
      } else if (inner % 16 == 0) {
        JoinBlocks<16>(to, x, step, inner, count);
      } else if (inner % 8 == 0) {
        JoinBlocks<8>(to, x, step, inner, count);
      } else {
        JoinBlocks<1>(to, x, step, inner, count);
      }
    }
  }

  // Channels that only fill a block stay zero.
  [[gnu::always_inline]] static inline void ClearPadding(const PoolImage& image,
                                                         int64_t plane,
                                                         float* best) {
    const int64_t used = image.channels - plane % image.blocks * image.inner;
    if (used >= image.inner) return;
    for (int64_t o = 0; o < image.axes[2].small; ++o) {
      std::fill(best + o * image.inner + used, best + (o + 1) * image.inner,
                0.0f);
    }
  }
};

// A plane of short lines.
struct PoolPlane {
  [[gnu::always_inline]] static inline void Run(const PoolTaps* table,
                                                const float* x, float* y) {
    const int32_t* offsets = table->offsets.data();
    for (int64_t first = 0; first < table->windows; first += kPoolLanes) {
      float best[kPoolLanes];
      std::fill_n(best, kPoolLanes, -HUGE_VALF);
      for (int64_t tap = 0; tap < table->taps; ++tap, offsets += kPoolLanes) {
        const PoolLanes loaded = ElementsOf(offsets, x);
#pragma omp simd
        for (int64_t i = 0; i < kPoolLanes; ++i) {
          const float greater = Greater(best[i], loaded[i]);
          best[i] = offsets[i] < 0 ? best[i] : greater;
        }
      }
      std::copy_n(best, std::min(kPoolLanes, table->windows - first),
                  y + first);
    }
  }
};

class MaxPoolKernel : public Kernel {
 public:
  MaxPoolKernel(const OpView& node, int threads)
      : image_(PoolImageOf(node, node.result_type(0).dims)),
        taps_(PoolTapsOf(image_)),
        threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const float* x = static_cast<const float*>(args.operands[0]);
    float* y = static_cast<float*>(args.results[0]);
    const int64_t rows = image_.axes[0].small * image_.axes[1].small;
    const int64_t width = image_.axes[2].small * image_.inner;
    const int threads =
        image_.planes * rows * width < (16 << 10) ? 1 : threads_;
    if (!taps_.empty()) {
      PoolPlanes(x, y, threads);
      return absl::OkStatus();
    }
    ParallelFor(threads, image_.planes * rows, [&](int64_t i) {
      RunVectorised<PoolRow>(static_cast<const PoolImage*>(&image_), x,
                             i / rows, i % rows, y + i * width);
    });
    return absl::OkStatus();
  }

 private:
  void PoolPlanes(const float* x, float* y, int threads) const {
    const auto& [depth, height, width] = image_.axes;
    const int64_t large =
        depth.large * height.large * width.large * image_.inner;
    ParallelFor(threads, image_.planes, [&](int64_t i) {
      RunVectorised<PoolPlane>(&taps_, x + i * large, y + i * taps_.windows);
    });
  }

  PoolImage image_;
  PoolTaps taps_;
  int threads_;
};

std::vector<std::string> Layouts(const OpView& node) {
  if (!node.is(kMaxPool)) return {};
  return PoolLayouts(node);
}

}  // namespace

extern const CpuFamily kCpuMaxPool = {
    .kernel = "cpu.max_pool",
    .bandwidth = 0.4,
    .exact = true,
    .layouts = Layouts,
    .bind = NewKernel<MaxPoolKernel>,
};

}  // namespace partita
