// The list of faults, with the cause of each.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_faults.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {
namespace {

// Null if it is not a convolution.
const dnnl_convolution_desc_t* ConvolutionOf(
    const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* convolution = nullptr;
  const dnnl_status_t status = dnnl_primitive_desc_query(
      primitive.get(), dnnl_query_convolution_d, 0, &convolution);
  return status == dnnl_success ? convolution : nullptr;
}

// Null if it is not a gradient by the weights.
const dnnl_convolution_desc_t* WeightGradientOf(
    const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* convolution = ConvolutionOf(primitive);
  const bool is_gradient =
      convolution != nullptr && convolution->prop_kind == dnnl_backward_weights;
  return is_gradient ? convolution : nullptr;
}

// Null if it is not a product of matrices.
const dnnl_matmul_desc_t* MatmulOf(const dnnl::primitive_desc& primitive) {
  const dnnl_matmul_desc_t* matmul = nullptr;
  const dnnl_status_t status = dnnl_primitive_desc_query(
      primitive.get(), dnnl_query_matmul_d, 0, &matmul);
  return status == dnnl_success ? matmul : nullptr;
}

// A spatial axis of a convolution.
struct Axis {
  dnnl_dim_t image, kernel, dilation, stride, before, results;

  dnnl_dim_t First(dnnl_dim_t result) const { return result * stride - before; }
  dnnl_dim_t Span() const { return (kernel - 1) * dilation + 1; }
  // True if all elements that the window reads are padding.
  bool ReadsPadding(dnnl_dim_t result) const {
    const dnnl_dim_t before_image = std::max<dnnl_dim_t>(0, -First(result));
    const dnnl_dim_t tap = (before_image + dilation - 1) / dilation;
    return tap >= kernel || First(result) + tap * dilation >= image;
  }
  // True if the window starts before the image or ends after it.
  bool ReachesPadding(dnnl_dim_t result) const {
    return First(result) < 0 || First(result) + Span() > image;
  }
};

std::vector<Axis> AxesOf(const dnnl_convolution_desc_t& convolution) {
  const bool is_gradient = convolution.prop_kind == dnnl_backward_weights;
  const dnnl_memory_desc_t& image = convolution.src_desc;
  const dnnl_memory_desc_t& weights =
      is_gradient ? convolution.diff_weights_desc : convolution.weights_desc;
  const dnnl_memory_desc_t& result =
      is_gradient ? convolution.diff_dst_desc : convolution.dst_desc;
  std::vector<Axis> axes(image.ndims - 2);
  for (int axis = 0; axis < image.ndims - 2; ++axis) {
    axes[axis] = {
        .image = image.dims[2 + axis],
        .kernel = weights.dims[weights.ndims - image.ndims + 2 + axis],
        .dilation = convolution.dilates[axis] + 1,
        .stride = convolution.strides[axis],
        .before = convolution.padding[0][axis],
        .results = result.dims[2 + axis]};
  }
  return axes;
}

// oneDNN #6035. The kernel has no strides, so it first copies the rows that it
// reads. It allocates a thread's buffer for the actual channels and addresses
// it by whole blocks of channels. With fewer channels than a block, a thread
// writes over the next one's buffer, and over the barrier or the bytes after
// the scratchpad. A larger scratchpad does not help.
bool CopiesRowsBeyondTheirSpace(const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* gradient = WeightGradientOf(primitive);
  if (gradient == nullptr) return false;
  const dnnl::memory::desc source = primitive.query_md(dnnl::query::src_md);
  bool is_strided = false;
  for (int axis = 0; axis < source.data.ndims - 2; ++axis) {
    is_strided |= gradient->strides[axis] > 1;
  }
  const int block =
      absl::StrContains(ImplementationName(primitive), "avx512") ? 16 : 8;
  return is_strided && IsChannelsLast(source) && source.data.dims[1] < block;
}

// oneDNN PR 5568. The buffer for the copy of the image is allocated as if
// windows that skip elements had none between them.
bool LeavesElementsOut(const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* convolution = ConvolutionOf(primitive);
  if (convolution == nullptr ||
      (convolution->prop_kind != dnnl_forward_inference &&
       convolution->prop_kind != dnnl_forward_training)) {
    return false;
  }
  for (const Axis& axis : AxesOf(*convolution)) {
    if (axis.stride > axis.kernel) return true;
  }
  return false;
}

bool HasSum(const dnnl::primitive_desc& primitive) {
  const dnnl::primitive_attr attributes = primitive.get_primitive_attr();
  // the copy of a part of them
  const dnnl::post_ops later = attributes.get_post_ops();
  for (int i = 0; i < later.len(); ++i) {
    if (later.kind(i) == dnnl::primitive::kind::sum) return true;
  }
  return false;
}

// The kernel reads the addend, stored four channels apart, with an instruction
// that requires aligned operands; the process ends by a signal.
bool AddsUnalignedChannels(const dnnl::primitive_desc& primitive) {
  const dnnl_memory_desc_t result =
      primitive.query_md(dnnl::query::dst_md).data;
  if (result.dims[1] % 4 == 0 || result.format_desc.blocking.inner_nblks > 0) {
    return false;
  }
  return HasSum(primitive);
}

// The kernel reads the channels of the first group for every group.
bool ReadsOneGroup(const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* convolution = ConvolutionOf(primitive);
  if (convolution == nullptr) return false;
  const dnnl::memory::desc source = primitive.query_md(dnnl::query::src_md);
  const dnnl_memory_desc_t& weights = convolution->weights_desc;
  const bool has_groups =
      weights.ndims > source.data.ndims && weights.dims[0] > 1;
  return has_groups && source.data.format_desc.blocking.inner_nblks == 0 &&
         !IsChannelsLast(source);
}

// Where a window reads only padding, the kernel multiplies nothing and applies
// the post-ops alone. A sum then gives wrong numbers, or the process ends by a
// signal; other post-ops are right.
bool AddsToWindowsOfPadding(const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* convolution = ConvolutionOf(primitive);
  if (convolution == nullptr || !HasSum(primitive)) return false;
  for (const Axis& axis : AxesOf(*convolution)) {
    for (dnnl_dim_t i = 0; i < axis.results; ++i) {
      if (axis.ReadsPadding(i)) return true;
    }
  }
  return false;
}

// The kernel transposes rows of the image into its scratchpad. Of a row that is
// shorter than a stride it reads elements there that it has not written: a NaN
// in the scratchpad becomes one in the result. At the end of the image it also
// reads beyond the operand.
bool TransposesLessThanAStride(const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* gradient = WeightGradientOf(primitive);
  if (gradient == nullptr) return false;
  const Axis row = AxesOf(*gradient).back();
  return row.image < row.stride;
}

// Of volumes in which all windows along the depth or the height reach into the
// padding, some give wrong numbers, crash or hang, whatever the layout. All
// faulty ones of 25,000 drawn shapes are in this class, one in eight of it.
bool HasNoWindowWithoutPadding(const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* gradient = WeightGradientOf(primitive);
  if (gradient == nullptr) return false;
  const std::vector<Axis> axes = AxesOf(*gradient);
  const auto reaches_padding = [](const Axis& axis) {
    for (dnnl_dim_t i = 0; i < axis.results; ++i) {
      if (!axis.ReachesPadding(i)) return false;
    }
    return true;
  };
  return axes.size() == 3 &&
         (reaches_padding(axes[0]) || reaches_padding(axes[1]));
}

// With more channels of a group than the kernel's block of 32, and a block that
// is not full, most gradients by dilated weights are wrong. All faulty ones of
// 3,000 drawn shapes with rows of a stride or more are in this class.
bool DilatesPartOfABlock(const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* gradient = WeightGradientOf(primitive);
  if (gradient == nullptr) return false;
  bool is_dilated = false;
  for (const Axis& axis : AxesOf(*gradient)) is_dilated |= axis.dilation > 1;
  const dnnl_memory_desc_t& weights = gradient->diff_weights_desc;
  const bool has_groups = weights.ndims > gradient->src_desc.ndims;
  const dnnl_dim_t channels = weights.dims[has_groups ? 2 : 1];
  return is_dilated && channels > 32 && channels % 32 != 0;
}

// The kernel takes 64 rows of the second operand at a time, in pairs. Where one
// row is missing, and the last block of columns is not full, the process ends
// by an invalid instruction, or numbers are wrong. No other number of rows up
// to 129 shows it, and none of a quarter of those up to 1,100.
bool HasSixtyThreeRows(const dnnl::primitive_desc& primitive) {
  const dnnl_matmul_desc_t* matmul = MatmulOf(primitive);
  if (matmul == nullptr) return false;
  const dnnl_memory_desc_t& weights = matmul->weights_desc;
  return weights.dims[weights.ndims - 2] == 63;
}

constexpr dnnl_version_t kNotYet = {};

constexpr OnednnFault kFaults[] = {
    {.implementation = "jit_1x1:avx",
     .fixed_in = kNotYet,
     .has = CopiesRowsBeyondTheirSpace,
     .reason = "writes beyond its scratchpad (oneDNN #6035)"},
    {.implementation = "brgconv:avx512_core_amx",
     .fixed_in = {.major = 3, .minor = 13, .patch = 0},
     .has = LeavesElementsOut,
     .reason = "writes over its own copy of the image (oneDNN PR 5568)"},
    {.implementation = "jit_dw:sse41",
     .fixed_in = kNotYet,
     .has = AddsUnalignedChannels,
     .reason = "takes a sum's operand for aligned, and crashes"},
    {.implementation = "jit:sse41",
     .fixed_in = kNotYet,
     .has = ReadsOneGroup,
     .reason = "reads the first group of a row-major image for every group"},
    {.implementation = "brgconv:",
     .fixed_in = kNotYet,
     .has = AddsToWindowsOfPadding,
     .reason = "adds wrongly where a window reads only padding"},
    {.implementation = "jit_bf16:avx512",
     .fixed_in = kNotYet,
     .has = TransposesLessThanAStride,
     .reason = "reads elements of its scratchpad that it did not write"},
    {.implementation = "jit_bf16:avx512",
     .fixed_in = kNotYet,
     .has = HasNoWindowWithoutPadding,
     .reason = "computes wrong taps in the padding of a volume"},
    {.implementation = "jit:avx512",
     .fixed_in = kNotYet,
     .has = HasNoWindowWithoutPadding,
     .reason = "computes wrong taps in the padding of a volume"},
    {.implementation = "jit:avx512_core_amx",
     .fixed_in = kNotYet,
     .has = TransposesLessThanAStride,
     .reason = "reads elements of its scratchpad that it did not write"},
    {.implementation = "jit:avx512_core_amx",
     .fixed_in = kNotYet,
     .has = DilatesPartOfABlock,
     .reason = "computes wrong taps of the last channels"},
    {.implementation = "brg:avx512_core_amx",
     .fixed_in = kNotYet,
     .has = HasSixtyThreeRows,
     .reason = "configures tiles wrongly for 63 rows"},
};

thread_local int ignoring = 0;  // scopes

bool IsMended(const OnednnFault& fault) {
  const auto number = [](const dnnl_version_t& version) {
    return std::make_tuple(version.major, version.minor, version.patch);
  };
  if (number(fault.fixed_in) == number(kNotYet)) return false;
  return number(*dnnl_version()) >= number(fault.fixed_in);
}

}  // namespace

IgnoreKnownFaults::IgnoreKnownFaults() { ++ignoring; }
IgnoreKnownFaults::~IgnoreKnownFaults() { --ignoring; }

const OnednnFault* KnownFault(const dnnl::primitive_desc& primitive) {
  if (ignoring > 0) return nullptr;
  const std::string name = ImplementationName(primitive);
  for (const OnednnFault& fault : kFaults) {
    if (absl::StartsWith(name, fault.implementation) && !IsMended(fault) &&
        fault.has(primitive)) {
      return &fault;
    }
  }
  return nullptr;
}

dnnl::primitive_desc WithoutKnownFault(dnnl::primitive_desc primitive) {
  while (primitive && KnownFault(primitive) != nullptr) {
    if (!primitive.next_impl()) return {};
  }
  return primitive;
}

}  // namespace partita
