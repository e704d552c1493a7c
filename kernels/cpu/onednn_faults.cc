// The list of faults; each row says why it is there.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_faults.h"

#include <string>
#include <tuple>

#include "absl/strings/match.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {
namespace {

// Null for what is no convolution.
const dnnl_convolution_desc_t* ConvolutionOf(
    const dnnl::primitive_desc& primitive) {
  const dnnl_convolution_desc_t* convolution = nullptr;
  const dnnl_status_t status = dnnl_primitive_desc_query(
      primitive.get(), dnnl_query_convolution_d, 0, &convolution);
  return status == dnnl_success ? convolution : nullptr;
}

// The channels of an element are adjacent, as a single one always is.
bool IsChannelsLast(const dnnl_memory_desc_t& image) {
  const dnnl_blocking_desc_t& layout = image.format_desc.blocking;
  return layout.inner_nblks == 0 &&
         (layout.strides[1] == 1 || image.dims[1] == 1);
}

// oneDNN #6035. The kernel knows no strides: it first copies the rows that are
// read. The space of a thread for them is booked for the channels there are,
// and addressed by whole blocks of channels: with fewer, a thread writes over
// the next one's space, and over the barrier behind it or the bytes behind the
// scratchpad. More room at the end is no cure.
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

// oneDNN PR 5568. The room for the copy of the image is booked as if windows
// that leave elements out had none between them.
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

// The kernel reads the addend, stored four channels apart, by an instruction
// whose operands must be aligned to four: the process ends by a signal.
bool AddsUnalignedChannels(const dnnl::primitive_desc& primitive) {
  const dnnl_memory_desc_t result =
      primitive.query_md(dnnl::query::dst_md).data;
  if (result.dims[1] % 4 == 0 || result.format_desc.blocking.inner_nblks > 0) {
    return false;
  }
  const dnnl::primitive_attr attributes = primitive.get_primitive_attr();
  const dnnl::post_ops behind = attributes.get_post_ops();  // a part of them
  for (int i = 0; i < behind.len(); ++i) {
    if (behind.kind(i) == dnnl::primitive::kind::sum) return true;
  }
  return false;
}

constexpr dnnl_version_t kNotYet = {};

constexpr OnednnFault kFaults[] = {
    {.implementation = "jit_1x1:avx",
     .mended = kNotYet,
     .has = CopiesRowsBeyondTheirSpace,
     .reason = "writes beyond its scratchpad (oneDNN #6035)"},
    {.implementation = "brgconv:avx512_core_amx",
     .mended = {.major = 3, .minor = 13, .patch = 0},
     .has = LeavesElementsOut,
     .reason = "writes over its own copy of the image (oneDNN PR 5568)"},
    {.implementation = "jit_dw:sse41",
     .mended = kNotYet,
     .has = AddsUnalignedChannels,
     .reason = "takes a sum's operand for aligned, and crashes"},
};

thread_local int ignoring = 0;  // scopes

bool IsMended(const OnednnFault& fault) {
  const auto number = [](const dnnl_version_t& version) {
    return std::make_tuple(version.major, version.minor, version.patch);
  };
  if (number(fault.mended) == number(kNotYet)) return false;
  return number(*dnnl_version()) >= number(fault.mended);
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
