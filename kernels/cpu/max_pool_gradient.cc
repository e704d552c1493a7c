// cpu.max_pool_gradient: each window passes its gradient to its largest
// element, the first if several are equal. NaN is larger than all.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/pool_image.h"
#include "kernels/cpu/pool_taps.h"
#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

// State of the windows at a time: the largest element and its tap; -1 before
// the first element.
constexpr int64_t kMaxWindows = 1024;
struct Windows {
  float greatest[kMaxWindows];
  int32_t tap[kMaxWindows];
};

// Compares windows [at, at + count) with their next element, x[i step].
template <int64_t kStep>
[[gnu::always_inline]] inline void CompareBy(Windows& windows, int64_t at,
                                             int64_t count, int32_t tap,
                                             const float* x, int64_t step) {
  if constexpr (kStep != 0) step = kStep;
  float* greatest = windows.greatest + at;
  int32_t* taps = windows.tap + at;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const float v = x[i * step];
    const bool takes = (taps[i] < 0) | (v > greatest[i]) | (v != v);
    greatest[i] = takes ? v : greatest[i];
    taps[i] = takes ? tap : taps[i];
  }
}

// Windows whose largest element is at this tap add their gradient to it.
template <int64_t kStep>
[[gnu::always_inline]] inline void AddBy(const Windows& windows, int64_t at,
                                         int64_t count, int32_t tap,
                                         const float* dy, float* dx,
                                         int64_t step) {
  if constexpr (kStep != 0) step = kStep;
  const int32_t* taps = windows.tap + at;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    dx[i * step] += taps[i] == tap ? dy[i] : 0.0f;
  }
}

struct Compare {
  template <int64_t kStep>
  [[gnu::always_inline]] inline void Run(Windows& windows, int64_t at,
                                         int64_t count, int32_t tap,
                                         int64_t large, int64_t,
                                         int64_t step) const {
    CompareBy<kStep>(windows, at, count, tap, x + large, step);
  }
  const float* x;
};
struct Add {
  template <int64_t kStep>
  [[gnu::always_inline]] inline void Run(Windows& windows, int64_t at,
                                         int64_t count, int32_t tap,
                                         int64_t large, int64_t small,
                                         int64_t step) const {
    AddBy<kStep>(windows, at, count, tap, dy + small, dx + large, step);
  }
  const float* dy;
  float* dx;
};

// Windows at `positions` positions from `position` on of one row, for `lanes`
// channels from `lane` on.
struct Tile {
  int64_t row, position, positions, lane, lanes;
};

// The elements of one line of the windows' taps, neighbours together.
template <typename Step>
[[gnu::always_inline]] inline void AlongLine(const PoolImage& image,
                                             const Tile& tile, int64_t line,
                                             int32_t tap, const Step& step,
                                             Windows& windows) {
  const PoolAxis& width = image.axes[2];
  const int64_t inner = image.inner;
  for (int64_t k = 0; k < width.kernel; ++k, ++tap) {
    const int64_t first = std::max(width.First(k), tile.position);
    const int64_t end = std::min(width.End(k), tile.position + tile.positions);
    if (first >= end) continue;
    const int64_t large =
        (line * width.large + width.ElementAt(first, k)) * inner + tile.lane;
    const int64_t small = (tile.row * width.small + first) * inner + tile.lane;
    const int64_t at = (first - tile.position) * tile.lanes;
    if (inner > 1) {
      for (int64_t o = 0; o < end - first; ++o) {
        step.template Run<1>(windows, at + o * tile.lanes, tile.lanes, tap,
                             large + o * width.stride * inner,
                             small + o * inner, 1);
      }
    } else if (width.stride == 2) {
      step.template Run<2>(windows, at, end - first, tap, large, small, 2);
    } else {
      step.template Run<0>(windows, at, end - first, tap, large, small,
                           width.stride);
    }
  }
}

template <typename Step>
[[gnu::always_inline]] inline void ForEachTap(const PoolImage& image,
                                              const Tile& tile,
                                              const Step& step,
                                              Windows& windows) {
  const auto& [depth, height, width] = image.axes;
  for (int64_t kd = 0; kd < depth.kernel; ++kd) {
    const int64_t d = depth.ElementAt(tile.row / height.small, kd);
    if (!depth.Has(d)) continue;
    for (int64_t kh = 0; kh < height.kernel; ++kh) {
      const int64_t h = height.ElementAt(tile.row % height.small, kh);
      if (!height.Has(h)) continue;
      const int64_t tap = (kd * height.kernel + kh) * width.kernel;
      AlongLine(image, tile, d * height.large + h, static_cast<int32_t>(tap),
                step, windows);
    }
  }
}

// One plane, tile by tile.
struct PlaneGradient {
  [[gnu::always_inline]] static inline void Run(const PoolImage* image,
                                                const float* x, const float* dy,
                                                float* dx) {
    const auto& [depth, height, width] = image->axes;
    const int64_t lanes = std::min(image->inner, kMaxWindows);
    const int64_t positions = std::min(width.small, kMaxWindows / lanes);
    Windows windows;
    for (int64_t row = 0; row < depth.small * height.small; ++row) {
      for (int64_t lane = 0; lane < image->inner; lane += lanes) {
        for (int64_t o = 0; o < width.small; o += positions) {
          const Tile tile = {row, o, std::min(positions, width.small - o), lane,
                             std::min(lanes, image->inner - lane)};
          std::fill_n(windows.tap, tile.positions * tile.lanes, -1);
          ForEachTap(*image, tile, Compare{x}, windows);
          ForEachTap(*image, tile, Add{dy, dx}, windows);
        }
      }
    }
  }
};

// One plane of short lines whose windows do not overlap: each passes its
// gradient to its element.
struct ApartGradient {
  [[gnu::always_inline]] static inline void Run(const PoolTaps* table,
                                                const float* x, const float* dy,
                                                float* dx) {
    const int32_t* offsets = table->offsets.data();
    for (int64_t first = 0; first < table->windows; first += kPoolLanes) {
      float greatest[kPoolLanes];
      int32_t taken[kPoolLanes];
      std::fill_n(greatest, kPoolLanes, 0.0f);
      std::fill_n(taken, kPoolLanes, -1);
      for (int64_t tap = 0; tap < table->taps; ++tap, offsets += kPoolLanes) {
        CompareLanes(x, offsets, greatest, taken);
      }
      const int64_t count = std::min(kPoolLanes, table->windows - first);
      for (int64_t i = 0; i < count; ++i) {
        // Adding to the zero that is stored turns -0 into 0.
        if (taken[i] >= 0) dx[taken[i]] += dy[first + i];
      }
    }
  }
  [[gnu::always_inline]] static inline void CompareLanes(const float* x,
                                                         const int32_t* offsets,
                                                         float* greatest,
                                                         int32_t* taken) {
    const PoolLanes elements = ElementsOf(offsets, x);
#pragma omp simd
    for (int64_t i = 0; i < kPoolLanes; ++i) {
      const float v = elements[i];
      const bool takes =
          (offsets[i] >= 0) & ((taken[i] < 0) | (v > greatest[i]) | (v != v));
      greatest[i] = takes ? v : greatest[i];
      taken[i] = takes ? offsets[i] : taken[i];
    }
  }
};

class MaxPoolGradientKernel : public Kernel {
 public:
  MaxPoolGradientKernel(const OpView& node, int threads)
      : image_(PoolImageOf(node, node.operand_type(1).dims)),
        taps_(WindowsApart(image_) ? PoolTapsOf(image_) : PoolTaps()),
        threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const float* x = static_cast<const float*>(args.operands[0]);
    const float* dy = static_cast<const float*>(args.operands[1]);
    float* dx = static_cast<float*>(args.results[0]);
    const auto& [depth, height, width] = image_.axes;
    const int64_t large =
        depth.large * height.large * width.large * image_.inner;
    const int64_t small =
        depth.small * height.small * width.small * image_.inner;
    const int threads = image_.planes * large < (16 << 10) ? 1 : threads_;
    ParallelFor(threads, image_.planes, [&](int64_t plane) {
      std::memset(dx + plane * large, 0, large * sizeof(float));
      OnePlane(x + plane * large, dy + plane * small, dx + plane * large);
    });
    return absl::OkStatus();
  }

 private:
  void OnePlane(const float* x, const float* dy, float* dx) const {
    if (taps_.empty()) {
      RunVectorised<PlaneGradient>(&image_, x, dy, dx);
    } else {
      RunVectorised<ApartGradient>(&taps_, x, dy, dx);
    }
  }

  PoolImage image_;
  PoolTaps taps_;
  int threads_;
};

std::vector<std::string> Layouts(const OpView& node) {
  if (!node.is(kMaxPoolGradient)) return {};
  if (node.operand_type(1).num_elements() == 0) return {};
  return PoolLayouts(node);
}

}  // namespace

extern const CpuFamily kCpuMaxPoolGradient = {
    .kernel = "cpu.max_pool_gradient",
    .bandwidth = 0.2,
    .exact = false,
    .layouts = Layouts,
    .bind = NewKernel<MaxPoolGradientKernel>,
};

}  // namespace partita
