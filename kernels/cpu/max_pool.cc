// cpu.max_pool: f32 max pools, row-major, channels last, or in blocks of
// channels. A NaN in a window is its result; padding takes no part.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/vector_code.h"

namespace partita {
namespace {

// The greater, or a NaN of either.
[[gnu::always_inline]] inline float Greater(float best, float x) {
  const float greater = x > best ? x : best;
  return x != x ? x : greater;
}

// best[i] = the greater of it and x[i step].
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

// The same for `inner` neighbours at each of `count` positions, kInner of them
// at a time: in one register.
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

// One spatial dimension of the window; those that the image lacks have extent
// and kernel 1.
struct Axis {
  int64_t large = 1, small = 1, kernel = 1, stride = 1, dilation = 1,
          before = 0;
  // Positions [first, end) at which tap k meets an element.
  [[gnu::always_inline]] int64_t First(int64_t k) const {
    const int64_t gap = before - k * dilation;
    return gap <= 0 ? 0 : std::min(small, (gap + stride - 1) / stride);
  }
  [[gnu::always_inline]] int64_t End(int64_t k) const {
    const int64_t room = large - 1 + before - k * dilation;
    return room < 0 ? 0 : std::min(small, room / stride + 1);
  }
  [[gnu::always_inline]] int64_t Meets(int64_t position, int64_t k) const {
    return position * stride - before + k * dilation;
  }
  [[gnu::always_inline]] bool Has(int64_t at) const {
    return at >= 0 && at < large;
  }
};

// The image as [planes, depth, height, width, inner], `inner` being channels
// that lie together.
struct Image {
  std::array<Axis, 3> axes;
  int64_t channels = 1;
  int64_t inner = 1;
  int64_t blocks = 1;  // of channels, in one image
  int64_t planes = 1;
};

// One row of results.
struct PoolRow {
  [[gnu::always_inline]] static inline void Run(const Image* image,
                                                const float* x, int64_t plane,
                                                int64_t row, float* best) {
    const auto& [depth, height, width] = image->axes;
    std::fill_n(best, width.small * image->inner, -HUGE_VALF);
    for (int64_t kd = 0; kd < depth.kernel; ++kd) {
      const int64_t d = depth.Meets(row / height.small, kd);
      if (!depth.Has(d)) continue;
      for (int64_t kh = 0; kh < height.kernel; ++kh) {
        const int64_t h = height.Meets(row % height.small, kh);
        if (!height.Has(h)) continue;
        const int64_t line = (plane * depth.large + d) * height.large + h;
        Taps(width, image->inner, x + line * width.large * image->inner, best);
      }
    }
    ClearPadding(*image, plane, best);
  }

  // The taps of one line of the window.
  [[gnu::always_inline]] static inline void Taps(const Axis& width,
                                                 int64_t inner,
                                                 const float* line,
                                                 float* best) {
    for (int64_t k = 0; k < width.kernel; ++k) {
      const int64_t first = width.First(k);
      const int64_t count = width.End(k) - first;
      if (count <= 0) continue;
      const float* x = line + width.Meets(first, k) * inner;
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

  // Channels that only fill up a block stay zero.
  [[gnu::always_inline]] static inline void ClearPadding(const Image& image,
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

class MaxPoolKernel : public BoundKernel {
 public:
  MaxPoolKernel(const OpView& node, int threads) : threads_(threads) {
    const TensorType& x = node.operand_type(0);
    const Shape& small = node.result_type(0).dims;
    const int spatial = x.rank() - 2;
    for (int i = 0; i < spatial; ++i) {
      Axis& axis = image_.axes[3 - spatial + i];
      axis = {x.dims[i + 2],
              small[i + 2],
              node.attr_ints("kernel")[i],
              At(node, "strides", i, 1),
              At(node, "dilations", i, 1),
              At(node, "pads_before", i, 0)};
    }
    image_.channels = x.dims[1];
    if (!x.layout.blocks.empty()) {
      image_.inner = x.layout.blocks[0].size;
    } else if (!x.layout.is_row_major()) {
      image_.inner = image_.channels;
    }
    image_.blocks = (image_.channels + image_.inner - 1) / image_.inner;
    image_.planes = x.dims[0] * image_.blocks;
  }

  absl::Status Launch(const LaunchArgs& args) override {
    const float* x = static_cast<const float*>(args.operands[0]);
    float* y = static_cast<float*>(args.results[0]);
    const int64_t rows = image_.axes[0].small * image_.axes[1].small;
    const int64_t width = image_.axes[2].small * image_.inner;
    const int team = image_.planes * rows * width < (16 << 10) ? 1 : threads_;
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
    for (int64_t i = 0; i < image_.planes * rows; ++i) {
      RunVectorised<PoolRow>(static_cast<const Image*>(&image_), x, i / rows,
                             i % rows, y + i * width);
    }
    return absl::OkStatus();
  }

 private:
  static int64_t At(const OpView& node, const char* name, int i,
                    int64_t otherwise) {
    const std::vector<int64_t>& values = node.attr_ints(name);
    return i < static_cast<int>(values.size()) ? values[i] : otherwise;
  }

  Image image_;
  int threads_;
};

std::vector<std::string> Layouts(const OpView& node) {
  if (!node.is(kMaxPool)) return {};
  const TensorType& x = node.operand_type(0);
  if (x.dtype != DType::kF32 || x.rank() > 5 || x.num_elements() == 0 ||
      node.result_type(0).num_elements() == 0) {
    return {};
  }
  const std::string all = std::string("abcde").substr(0, x.rank());
  std::vector<std::string> layouts = {"",
                                      absl::StrCat("a", all.substr(2), "b")};
  for (int block : {8, 16}) {
    layouts.push_back(absl::StrCat(all, block, "b"));
  }
  return layouts;
}

std::unique_ptr<BoundKernel> Bind(const OpView& node, int threads) {
  return std::make_unique<MaxPoolKernel>(node, threads);
}

}  // namespace

extern const CpuFamily kCpuMaxPool = {
    .kernel = "cpu.max_pool",
    .bandwidth = 0.4,
    .exact = true,
    .layouts = Layouts,
    .bind = Bind,
};

}  // namespace partita
