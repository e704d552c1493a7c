// cpu.winograd_4x4: f32 3x3 convolutions of stride 1 in training, their
// transposes (their gradients by the image), and their gradients by the
// weights, as kernels/winograd computes them.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/types/span.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/winograd_form.h"
#include "kernels/winograd/convolution.h"
#include "kernels/winograd/tap_matrices.h"

namespace partita {
namespace {

// Images in blocks of channels.
constexpr char kImages[] = "abcd16b";

int64_t Before(const OpView& op, int axis) {
  const std::vector<int64_t>& pads = op.attr_ints("pads_before");
  return pads.empty() ? 0 : pads[axis];
}

// A transposed convolution is a convolution with windows rotated by 180 degrees
// and the complementary padding.
TiledConvolution TiledOf(const OpView& node) {
  const Shape& x = node.operand_type(0).dims;
  const bool is_gradient = node.is(kConvWeightGradient);
  const Shape& y =
      is_gradient ? node.operand_type(1).dims : node.result_type(0).dims;
  const bool turned = node.is(kConvTranspose);
  const auto first = [&](int axis) {
    return turned ? 2 - Before(node, axis) : Before(node, axis);
  };
  TiledConvolution conv = TileConvolution(x[0], x[1], x[2], x[3], y[1], y[2],
                                          y[3], first(0), first(1));
  conv.turned = turned;
  return conv;
}

bool FillsVectors(const TensorType& images) {
  return images.num_elements() > 0 && images.dims[1] % kVector == 0;
}

bool IsF32(const OpView& node) {
  for (int i = 0; i < node.num_operands(); ++i) {
    if (node.operand_type(i).dtype != DType::kF32) return false;
  }
  return true;
}

// Not for constant weights: inference keeps the digits that larger tiles lose.
std::vector<std::string> ConvolutionLayouts(const OpView& node) {
  if (!node.is(kConv) && !node.is(kConvTranspose)) return {};
  const Shape& w = node.operand_type(1).dims;
  if (!IsF32(node) || !IsForTiles(node, absl::MakeConstSpan(w).subspan(2)) ||
      node.operand(1).is_constant() || !FillsVectors(node.operand_type(0)) ||
      !FillsVectors(node.result_type(0))) {
    return {};
  }
  return {kImages};
}

std::vector<std::string> GradientLayouts(const OpView& node) {
  if (!node.is(kConvWeightGradient) || !IsF32(node) ||
      !IsForTiles(node, node.attr_ints("kernel")) ||
      !FillsVectors(node.operand_type(0)) ||
      !FillsVectors(node.operand_type(1))) {
    return {};
  }
  return {kImages};
}

class ConvolutionKernel : public Kernel {
 public:
  ConvolutionKernel(const OpView& node, int threads)
      : conv_(TiledOf(node)), threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const auto operand = [&](size_t i) {
      return static_cast<const float*>(args.operands[i]);
    };
    Convolve(conv_,
             {.x = operand(0),
              .w = operand(1),
              .bias = args.operands.size() > 2 ? operand(2) : nullptr,
              .y = static_cast<float*>(args.results[0]),
              .workspace = static_cast<float*>(args.workspace)},
             threads_);
    return absl::OkStatus();
  }

 private:
  TiledConvolution conv_;
  int threads_;
};

class WeightGradientKernel : public Kernel {
 public:
  WeightGradientKernel(const OpView& node, int threads)
      : conv_(TiledOf(node)), threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    DifferentiateByWeights(conv_,
                           {.x = static_cast<const float*>(args.operands[0]),
                            .dy = static_cast<const float*>(args.operands[1]),
                            .dw = static_cast<float*>(args.results[0]),
                            .workspace = static_cast<float*>(args.workspace)},
                           threads_);
    return absl::OkStatus();
  }

 private:
  TiledConvolution conv_;
  int threads_;
};

int64_t ConvolutionWorkspace(const OpView& node, const Layout& layout,
                             int threads) {
  return ConvolutionFloats(TiledOf(node), threads) * int64_t{sizeof(float)};
}

int64_t GradientWorkspace(const OpView& node, const Layout& layout,
                          int threads) {
  return WeightGradientFloats(TiledOf(node), threads) * int64_t{sizeof(float)};
}

// Overheads in units of products: for each tile and channel of a source or a
// result; for each pair of channels whose weights are transformed; for each
// thread at a barrier. Measured on a Zen 5, whose products reach 0.85 of its
// peak.
constexpr double kSourceFlops = 1000;
constexpr double kResultFlops = 600;
constexpr double kPairFlops = 600;
constexpr double kBarrierFlops = 4e5;

Cost TiledCost(const OpView& node, int threads) {
  const TiledConvolution conv = TiledOf(node);
  const TiledWork work = node.is(kConvWeightGradient)
                             ? WeightGradientWork(conv, threads)
                             : ConvolutionWork(conv, threads);
  const double tiles = static_cast<double>(conv.source.tiles());
  const double inputs = static_cast<double>(conv.source.channels);
  const double outputs = static_cast<double>(conv.result.channels);
  const double pairs = inputs * outputs;
  Cost cost = node.op().cost(node);
  cost.flops = work.imbalance * pairs *
                   (tiles * 2.0 * kTaps +
                    kPairFlops * static_cast<double>(work.weight_transforms)) +
               tiles * (kSourceFlops * inputs + kResultFlops * outputs);
  if (threads > 1) {
    cost.flops += kBarrierFlops * static_cast<double>(work.barriers * threads);
  }
  return cost;
}

// Shared by both families.
constexpr CpuFamily Tiled(CpuFamily family) {
  family.bandwidth = 0.8;
  family.flops = 0.85;
  family.exact = false;
  family.fuses_products = true;
  family.cost = TiledCost;
  family.has_tiles = true;
  family.version = 2;
  return family;
}

}  // namespace

extern const CpuFamily kCpuWinograd = Tiled({
    .kernel = "cpu.winograd_4x4",
    .layouts = ConvolutionLayouts,
    .bind = NewKernel<ConvolutionKernel>,
    .workspace = ConvolutionWorkspace,
    .row_major_operand = 1,
});

extern const CpuFamily kCpuWinogradWeightGradient = Tiled({
    .kernel = "cpu.winograd_4x4_weight_gradient",
    .layouts = GradientLayouts,
    .bind = NewKernel<WeightGradientKernel>,
    .workspace = GradientWorkspace,
    .results_row_major = true,
});

}  // namespace partita
