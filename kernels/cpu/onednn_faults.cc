// The list of faults, with the cause of each.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_faults.h"

#include <string>
#include <tuple>

#include "absl/strings/match.h"
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

// True if the channels of an element are adjacent; a single channel always is.
bool IsChannelsLast(const dnnl_memory_desc_t& image) {
  const dnnl_blocking_desc_t& layout = image.format_desc.blocking;
  return layout.inner_nblks == 0 &&
         (layout.strides[1] == 1 || image.dims[1] == 1);
}

// oneDNN #6035. The kernel has no strides, so it first copies the rows that it
// reads. It allocates a thread's buffer for the actual channels and addresses
// it by whole blocks of channels. With fewer channels than a block, a thread
// writes over the next one's buffer, and over the barrier or the bytes after
// the scratchpad. A larger scratchpad does not help.
bool CopiesRowsBeyondTheirSpace(const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* convolution = ConvolutionOf(primitive);
  if (convolution == nullptr ||
      convolution->prop_kind != dnnl_backward_weights) {
    return false;
  }
  const dnnl_memory_desc_t source =
      primitive.query_md(dnnl::query::src_md).data;
  bool is_strided = false;
  for (int axis = 0; axis < source.ndims - 2; ++axis) {
    is_strided |= convolution->strides[axis] > 1;
  }
  const int block =
      absl::StrContains(ImplementationName(primitive), "avx512") ? 16 : 8;
  return is_strided && IsChannelsLast(source) && source.dims[1] < block;
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
  const dnnl_memory_desc_t& weights = convolution->weights_desc;
  const int spatial = primitive.query_md(dnnl::query::src_md).data.ndims - 2;
  for (int axis = 0; axis < spatial; ++axis) {
    const dnnl_dim_t taps = weights.dims[weights.ndims - spatial + axis];
    if (convolution->strides[axis] > taps) return true;
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
  const dnnl::primitive_attr attributes = primitive.get_primitive_attr();
  // the copy of a part of them
  const dnnl::post_ops later = attributes.get_post_ops();
  for (int i = 0; i < later.len(); ++i) {
    if (later.kind(i) == dnnl::primitive::kind::sum) return true;
  }
  return false;
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
