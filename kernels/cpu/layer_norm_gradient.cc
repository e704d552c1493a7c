// cpu.layer_norm_gradient: gradients of f32 layer norms by the input and by the
// scale, row-major, each in one pass over memory. Sums are f32, in sixteen
// strands along a line and in chunks over lines; both depend only on the shape.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/float_vector.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

// Lines of `width` elements, each normalised.
struct Lines {
  explicit Lines(const OpView& node)
      : epsilon(static_cast<float>(node.attr_float("epsilon"))) {
    const Shape& dims = node.operand_type(0).dims;
    int64_t axis = node.attr_int("axis");
    if (axis < 0) axis += static_cast<int64_t>(dims.size());
    for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
      (i < axis ? count : width) *= dims[i];
    }
  }

  int UsedThreads(int threads) const {
    return count * width < (16 << 10) ? 1 : threads;
  }

  float epsilon;
  int64_t count = 1;
  int64_t width = 1;
};

// All lanes of a field are the same: x_hat = (x - mean) rate.
struct Normalisation {
  Vector mean;
  Vector rate;

  [[gnu::always_inline]] void Take(const float* x, int64_t width,
                                   float epsilon) {
    Vector part;
    mean = Vector{};
    for (int64_t i = 0; i < width; i += kVector) {
      LoadLanes(x + i, std::min(kVector, width - i), 0, part);
      mean += part;
    }
    SumLanes(mean);
    mean /= static_cast<float>(width);
    Vector squares = {};
    for (int64_t i = 0; i < width; i += kVector) {
      LoadLanes(x + i, std::min(kVector, width - i), mean[0], part);
      part -= mean;
      squares += part * part;
    }
    SumLanes(squares);
    const float variance = squares[0] / static_cast<float>(width);
    rate = Vector{} + 1 / std::sqrt(variance + epsilon);
  }

  // Missing lanes are 0.
  [[gnu::always_inline]] void Apply(const float* x, int64_t lanes,
                                    Vector& x_hat) const {
    LoadLanes(x, lanes, mean[0], x_hat);
    x_hat = (x_hat - mean) * rate;
  }
};

// dx = rate (g - mean g - x_hat mean(g x_hat)), with g = dy scale.
struct LineGradient {
  [[gnu::always_inline]] static inline void Run(const Lines* lines,
                                                const float* x,
                                                const float* scale,
                                                const float* dy, float* dx) {
    const int64_t width = lines->width;
    Normalisation n;
    n.Take(x, width, lines->epsilon);
    Vector x_hat, factor, g;
    Vector mean = {}, slope = {};
    for (int64_t i = 0; i < width; i += kVector) {
      const int64_t lanes = std::min(kVector, width - i);
      n.Apply(x + i, lanes, x_hat);
      LoadLanes(scale + i, lanes, 0, factor);
      LoadLanes(dy + i, lanes, 0, g);
      g *= factor;
      mean += g;
      slope += g * x_hat;
    }
    SumLanes(mean);
    SumLanes(slope);
    mean /= static_cast<float>(width);
    slope /= static_cast<float>(width);
    for (int64_t i = 0; i < width; i += kVector) {
      const int64_t lanes = std::min(kVector, width - i);
      n.Apply(x + i, lanes, x_hat);
      LoadLanes(scale + i, lanes, 0, factor);
      LoadLanes(dy + i, lanes, 0, g);
      g = n.rate * (g * factor - mean - x_hat * slope);
      StoreLanes(g, lanes, dx + i);
    }
  }
};

// Adds dy x_hat of consecutive lines.
struct ScaleGradient {
  [[gnu::always_inline]] static inline void Run(const Lines* lines,
                                                int64_t count, const float* x,
                                                const float* dy, float* sums) {
    const int64_t width = lines->width;
    for (int64_t line = 0; line < count; ++line, x += width, dy += width) {
      Normalisation n;
      n.Take(x, width, lines->epsilon);
      Vector x_hat, g, sum;
      for (int64_t i = 0; i < width; i += kVector) {
        const int64_t lanes = std::min(kVector, width - i);
        n.Apply(x + i, lanes, x_hat);
        LoadLanes(dy + i, lanes, 0, g);
        LoadLanes(sums + i, lanes, 0, sum);
        sum += g * x_hat;
        StoreLanes(sum, lanes, sums + i);
      }
    }
  }
};

class LayerNormGradientKernel : public Kernel {
 public:
  LayerNormGradientKernel(const OpView& node, int threads)
      : lines_(node), threads_(lines_.UsedThreads(threads)) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const float* x = static_cast<const float*>(args.operands[0]);
    const float* scale = static_cast<const float*>(args.operands[1]);
    const float* dy = static_cast<const float*>(args.operands[2]);
    float* dx = static_cast<float*>(args.results[0]);
    ParallelFor(threads_, lines_.count, [&](int64_t i) {
      const int64_t at = i * lines_.width;
      RunVectorised<LineGradient>(&lines_, x + at, scale, dy + at, dx + at);
    });
    return absl::OkStatus();
  }

 private:
  Lines lines_;
  int threads_;
};

// Lines in a chunk. Sums inside a chunk are sequential.
int64_t ChunkOf(const Lines& lines) {
  constexpr int64_t kFewest = 64;
  constexpr int64_t kMostChunks = 64;
  return std::max(kFewest, (lines.count + kMostChunks - 1) / kMostChunks);
}

int64_t ChunksOf(const Lines& lines) {
  const int64_t chunk = ChunkOf(lines);
  return (lines.count + chunk - 1) / chunk;
}

class LayerNormScaleGradientKernel : public Kernel {
 public:
  LayerNormScaleGradientKernel(const OpView& node, int threads)
      : lines_(node), threads_(lines_.UsedThreads(threads)) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const float* x = static_cast<const float*>(args.operands[0]);
    const float* dy = static_cast<const float*>(args.operands[1]);
    float* const partial = static_cast<float*>(args.workspace);
    const int64_t chunk = ChunkOf(lines_);
    const int64_t width = lines_.width;
    ParallelFor(threads_, ChunksOf(lines_), [&](int64_t c) {
      float* const sums = partial + c * width;
      std::fill_n(sums, width, 0.0f);
      const int64_t first = c * chunk;
      RunVectorised<ScaleGradient>(&lines_,
                                   std::min(chunk, lines_.count - first),
                                   x + first * width, dy + first * width, sums);
    });
    Join(partial, static_cast<float*>(args.results[0]));
    return absl::OkStatus();
  }

 private:
  void Join(const float* partial, float* sums) const {
    std::copy_n(partial, lines_.width, sums);
    for (int64_t c = 1; c < ChunksOf(lines_); ++c) {
      const float* more = partial + c * lines_.width;
      for (int64_t i = 0; i < lines_.width; ++i) sums[i] += more[i];
    }
  }

  Lines lines_;
  int threads_;
};

bool Accepts(const OpView& node) {
  return (node.is(kLayerNormGradient) || node.is(kLayerNormScaleGradient)) &&
         OperandsAreF32(node);
}

int64_t Workspace(const OpView& node, const Layout& layout, int threads) {
  if (!node.is(kLayerNormScaleGradient)) return 0;
  const Lines lines(node);
  return ChunksOf(lines) * lines.width * int64_t{sizeof(float)};
}

std::unique_ptr<Kernel> Bind(const OpView& node, int threads) {
  if (node.is(kLayerNormScaleGradient)) {
    return std::make_unique<LayerNormScaleGradientKernel>(node, threads);
  }
  return std::make_unique<LayerNormGradientKernel>(node, threads);
}

}  // namespace

extern const CpuFamily kCpuLayerNormGradient = {
    .kernel = "cpu.layer_norm_gradient",
    .bandwidth = 0.5,
    .exact = false,
    .layouts = RowMajorIf<Accepts>,
    .bind = Bind,
    .workspace = Workspace,
};

}  // namespace partita
