// Efficiencies of kinds of implementation, and their work.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_seconds.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "graph/core_ops.h"
#include "graph/device_rates.h"
#include "graph/op_def.h"
#include "graph/round_up.h"

namespace partita {
namespace {

// The shares of the device's rates that a kind of implementation reaches. They
// are rounded by hand, so that implementations rank as they do when measured;
// no program derives them. To compare on a host: `partita simulate PLAN --trace
// FILE` has the predicted seconds of each command, `partita run PLAN --trace
// FILE` the measured ones.
struct Efficiency {
  const char* name;
  double flops;
  double bandwidth;
};
constexpr Efficiency kEfficiencies[] = {
    {"ref", 0.0001, 0.02}, {"simple", 0.02, 0.3},  {"brg", 0.75, 0.8},
    {"wino", 0.65, 0.8},   {"jit_1x1", 0.75, 0.8}, {"gemm", 0.45, 0.5},
    {"nchw", 0.1, 0.4},    {"jit", 0.73, 0.8},
};

// Vectors of AVX2 are loaded as fast as they are multiplied. Measure them on
// any host with ONEDNN_MAX_CPU_ISA=AVX2.
constexpr Efficiency kNarrowEfficiencies[] = {
    {"gemm", 0.8, 0.7}, {"jit_1x1", 0.88, 0.7}, {"jit:", 0.85, 0.8}};

bool IsNarrow() { return VectorChannels() < 16; }

const Efficiency* FindIn(absl::Span<const Efficiency> table,
                         const std::string& implementation) {
  const auto entry = absl::c_find_if(table, [&](const Efficiency& candidate) {
    return absl::StrContains(implementation, candidate.name);
  });
  return entry == table.end() ? nullptr : &*entry;
}

const Efficiency& EfficiencyOf(const std::string& implementation) {
  const Efficiency* found = nullptr;
  if (IsNarrow()) found = FindIn(kNarrowEfficiencies, implementation);
  if (found == nullptr) found = FindIn(kEfficiencies, implementation);
  static constexpr Efficiency kOther = {"", 0.1, 0.3};
  return found == nullptr ? kOther : *found;
}

double StoredBytes(TensorType type, const Layout& layout) {
  type.layout = layout;
  return static_cast<double>(type.num_bytes());
}

// The work of a launch.
struct Work {
  double flops = 0;      // multiplications and additions of the sums
  double moving = 0;     // additions of transforms, bound by loads and stores
  double streaming = 0;  // bytes read and written before and after the sums
};

bool IsByGemm(const OnednnRecipe& recipe) {
  return absl::StrContains(ImplementationName(recipe.primitive), "gemm");
}

bool IsConvolution(const OnednnRecipe& recipe) {
  const dnnl::primitive::kind kind = recipe.primitive.get_kind();
  return kind == dnnl::primitive::kind::convolution ||
         kind == dnnl::primitive::kind::deconvolution;
}

bool IsConvolutionByGemm(const OnednnRecipe& recipe) {
  return IsConvolution(recipe) && IsByGemm(recipe);
}

const dnnl::memory::desc* DescOf(const OnednnRecipe& recipe, int id) {
  for (const OnednnRecipe::Argument& argument : recipe.arguments) {
    if (argument.id == id) return &argument.desc;
  }
  return nullptr;
}

// F(m x m, 3x3): (m + 2)^2 products instead of 9 m^2 for each tile and pair of
// channels, plus the additions that transform a tile. A core keeps transformed
// 2x2 tiles in its caches, but reads, transforms, writes and reads weights
// again. Tiles of 4x4 go through memory too.
Work WinogradWork(const OnednnRecipe& recipe) {
  const bool small = recipe.tile == 2;
  const auto channels = DescOf(recipe, DNNL_ARG_WEIGHTS)->dims();
  const auto image = DescOf(recipe, DNNL_ARG_DST)->dims();
  const auto tiles_along = [&](int axis) {
    return (image[axis] + recipe.tile - 1) / recipe.tile;
  };
  const double tiles =
      static_cast<double>(image[0] * tiles_along(2) * tiles_along(3));
  const double pairs = static_cast<double>(channels[0] * channels[1]);
  const double out = static_cast<double>(channels[0]);
  const double in = static_cast<double>(channels[1]);
  const double taps = (recipe.tile + 2) * (recipe.tile + 2);
  const double transformed = taps * sizeof(float) * pairs;
  Work work = {
      .flops = 2 * taps * tiles * pairs,
      .moving = tiles * (small ? 24 * out + 32 * in : 100 * out + 144 * in),
      .streaming = 9 * sizeof(float) * pairs + 2 * transformed};
  if (!small) work.streaming += 2 * taps * sizeof(float) * tiles * (out + in);
  return work;
}

// Weights larger than a core's caches.
constexpr double kLargeWeights = 1 << 20;

// Bytes that a convolution by gemm moves besides its operands. It computes one
// product for each image, with a matrix that has a column of all taps' elements
// for each position, written and read again. Each product reads large weights
// again, or adds to their gradient.
double GemmTraffic(const OpView& node, const OnednnRecipe& recipe) {
  const auto* source = DescOf(recipe, DNNL_ARG_SRC);
  const auto* weights = DescOf(recipe, DNNL_ARG_WEIGHTS);
  if (weights == nullptr) weights = DescOf(recipe, DNNL_ARG_DIFF_WEIGHTS);
  const dnnl::memory::dims dims = weights->dims();
  const size_t grouped = dims.size() - source->dims().size();
  double taps = 1;
  for (size_t i = grouped + 2; i < dims.size(); ++i) {
    taps *= static_cast<double>(dims[i]);
  }
  const double products = node.op().cost(node).flops / 2;
  double bytes = 0;
  if (taps > 1) {
    bytes += 2 * sizeof(float) * products / static_cast<double>(dims[grouped]);
  }
  const double weight_bytes = static_cast<double>(weights->get_size());
  if (weight_bytes > kLargeWeights) {
    bytes += weight_bytes * static_cast<double>(source->dims()[0] - 1);
  }
  return bytes;
}

// Rows of the right side at this distance map to few sets of the L1 cache, and
// gemm's narrow vectors gather their columns from there.
constexpr dnnl::memory::dim kFewSets = 1024;  // floats
double GemmExcess(const OnednnRecipe& recipe) {
  const auto* right = DescOf(recipe, DNNL_ARG_WEIGHTS);
  const dnnl_memory_desc_t& matrix = right->data;
  const dnnl_blocking_desc_t& layout = matrix.format_desc.blocking;
  if (!IsNarrow() || matrix.format_kind != dnnl_blocked ||
      layout.strides[matrix.ndims - 1] != 1) {
    return 1;
  }
  const dnnl::memory::dim step = layout.strides[matrix.ndims - 2];
  return step % kFewSets == 0 ? 2 : step % (kFewSets / 2) == 0 ? 1.35 : 1;
}

// brgconv sums over this many input channels in its innermost loop; fewer take
// the same time.
constexpr int kBrgconvDepth = 4;

bool HasChannelsLast(const dnnl::memory::desc& desc) {
  const dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
  return blocking.inner_nblks == 0 && blocking.strides[1] == 1;
}

// Factor of the time of a weight gradient for images with channels last, since
// it reads each position's channels separately.
constexpr double kChannelsLastExcess = 1.35;

// Multiplications and additions done for each one required: a weight gradient
// computes whole blocks on both sides, or for output channels if channels are
// last; shorter vectors add more.
double GradientExcess(const OpView& node, const OnednnRecipe& recipe) {
  const bool half =
      VectorChannels() == 16 &&
      absl::StrContains(ImplementationName(recipe.primitive), "avx2");
  const int width = half ? 2 : 1;
  const auto* gradient = DescOf(recipe, DNNL_ARG_DIFF_DST);
  if (HasChannelsLast(*gradient)) {
    const dnnl::memory::dim channels = gradient->dims()[1];
    return width * kChannelsLastExcess *
           static_cast<double>(RoundUp(channels, VectorChannels() / width)) /
           static_cast<double>(channels);
  }
  const TensorType& dw = node.result_type(0);
  return width * StoredBytes(dw, recipe.results[0]) /
         static_cast<double>(dw.num_bytes());
}

// A direct convolution processes rows of the result in blocks of positions. A
// row that fills no block leaves the multipliers idle.
double RowExcess(const OnednnRecipe& recipe) {
  constexpr dnnl::memory::dim kFewPositions = 4;
  const std::string name = ImplementationName(recipe.primitive);
  const bool blocks =
      absl::StartsWith(name, "jit:") || absl::StrContains(name, "brgconv:");
  const auto* result = DescOf(recipe, DNNL_ARG_DST);
  if (!blocks || result == nullptr) return 1;
  const dnnl::memory::dim positions = result->dims().back();
  if (positions >= kFewPositions || result->dims().size() < 4) return 1;
  return 1 + 3.7 / static_cast<double>(positions);
}

// The same for other convolutions: output channels fill whole vectors.
// Depthwise ones have groups instead.
double VectorExcess(const OpView& node, const OnednnRecipe& recipe) {
  const auto* weights = DescOf(recipe, DNNL_ARG_WEIGHTS);
  if (weights == nullptr) return GradientExcess(node, recipe);
  const dnnl::memory::dims dims = weights->dims();
  if (dims.size() > DescOf(recipe, DNNL_ARG_SRC)->dims().size()) return 1;
  double excess = static_cast<double>(RoundUp(dims[0], VectorChannels())) /
                  static_cast<double>(dims[0]);
  if (absl::StrContains(ImplementationName(recipe.primitive), "brgconv")) {
    excess *= static_cast<double>(RoundUp(dims[1], kBrgconvDepth)) /
              static_cast<double>(dims[1]);
  }
  return excess * RowExcess(recipe);
}

Work WorkOf(const OpView& node, const OnednnRecipe& recipe) {
  if (recipe.tile > 0) return WinogradWork(recipe);
  Work work = {.flops = node.op().cost(node).flops};
  if (recipe.padded.has_value()) {
    work.streaming = 3.0 * static_cast<double>(TransformedBytes(recipe));
  }
  if (IsConvolutionByGemm(recipe)) {
    work.streaming += GemmTraffic(node, recipe);
  } else if (IsConvolution(recipe)) {
    work.flops *= VectorExcess(node, recipe);
  } else if (recipe.primitive.get_kind() == dnnl::primitive::kind::matmul &&
             IsByGemm(recipe)) {
    work.flops *= GemmExcess(recipe);
  }
  return work;
}

// The share of the peak that additions between loads and stores reach.
constexpr double kMovingEfficiency = 0.1;

// Multiplications and additions that take as long as one element of a post-op
// of a convolution by gemm. Below AVX-512 no generated code computes these: a
// relu alone is a compiled loop, and an operand's address is computed for each
// element.
constexpr double kReluAlone = 100;
constexpr double kEltwise = 1000;
constexpr double kBinary = 5800;

bool IsRelu(const dnnl::post_ops& ops, int index) {
  float scale = 0, alpha = 0, beta = 0;
  dnnl::algorithm algorithm;
  ops.get_params_eltwise(index, scale, algorithm, alpha, beta);
  return algorithm == dnnl::algorithm::eltwise_relu;
}

double PostOpFlopsOfElement(const dnnl::post_ops& ops) {
  double flops = 0;
  for (int i = 0; i < ops.len(); ++i) {
    if (ops.kind(i) == dnnl::primitive::kind::binary) flops += kBinary;
    if (ops.kind(i) != dnnl::primitive::kind::eltwise) continue;
    flops += ops.len() == 1 && IsRelu(ops, i) ? kReluAlone : kEltwise;
  }
  return flops;
}

}  // namespace

double PostOpSeconds(const OpView& node, const OnednnRecipe& recipe,
                     const DeviceTraits& device) {
  if (!IsNarrow() || !IsConvolutionByGemm(recipe)) return 0;
  const dnnl::primitive_attr attributes = recipe.primitive.get_primitive_attr();
  // the copy of a part of them
  const dnnl::post_ops later = attributes.get_post_ops();
  return PostOpFlopsOfElement(later) *
         static_cast<double>(node.result_type(0).num_elements()) /
         PeakFlops(device, node.operand_type(0).dtype);
}

double OnednnSeconds(const OpView& node, const OnednnRecipe& recipe,
                     const DeviceTraits& device) {
  const Efficiency& efficiency =
      EfficiencyOf(ImplementationName(recipe.primitive));
  const Work work = WorkOf(node, recipe);
  double bytes = 0;
  for (int i = 0; i < node.num_operands(); ++i) {
    bytes += StoredBytes(node.operand_type(i), recipe.operands[i]);
  }
  for (int i = 0; i < node.num_results(); ++i) {
    bytes += StoredBytes(node.result_type(i), recipe.results[i]);
  }
  const double peak = PeakFlops(device, node.operand_type(0).dtype);
  const double bandwidth = MemoryBandwidth(device);
  return device.launch_seconds +
         std::max(work.flops / (peak * efficiency.flops),
                  bytes / (bandwidth * efficiency.bandwidth)) +
         work.moving / (peak * kMovingEfficiency) +
         work.streaming / (bandwidth * efficiency.bandwidth) +
         PostOpSeconds(node, recipe, device) + 1e-7;
}

bool IsSlowFused(const OpView& node, const OnednnRecipe& recipe,
                 const DeviceTraits& device) {
  if (!node.is(kFused)) return false;
  if (IsReferenceLoop(recipe.primitive)) return true;
  double walk = 2 * StoredBytes(node.result_type(0), recipe.results[0]);
  // Besides the operands of the product.
  for (int i = 2; i < node.num_operands(); ++i) {
    walk += StoredBytes(node.operand_type(i), recipe.operands[i]);
  }
  return PostOpSeconds(node, recipe, device) >
         device.launch_seconds + walk / MemoryBandwidth(device);
}

double ReorderSeconds(const OpView& node, absl::Span<const Layout> from,
                      absl::Span<const Layout> to, const DeviceTraits& device) {
  double bytes = 0;
  for (int i = 0; i < node.num_results(); ++i) {
    if (from[i] == to[i]) continue;
    bytes += StoredBytes(node.result_type(i), from[i]) +
             StoredBytes(node.result_type(i), to[i]);
  }
  return bytes / MemoryBandwidth(device);
}

double RelaidSeconds(const OpView& node, const KernelChoice& choice,
                     const DeviceTraits& device) {
  double bytes = 0;
  for (int i = 0; i < node.num_operands(); ++i) {
    const TensorType& type = node.operand_type(i);
    if (type.layout == choice.operands[i]) continue;
    if (node.operand(i).constant() != nullptr) continue;
    bytes += 2 * StoredBytes(type, choice.operands[i]);
  }
  for (int i = 0; i < node.num_results(); ++i) {
    const TensorType& type = node.result_type(i);
    if (type.layout == choice.results[i]) continue;
    bytes += 2 * StoredBytes(type, choice.results[i]);
  }
  return choice.seconds + bytes / MemoryBandwidth(device);
}

}  // namespace partita
