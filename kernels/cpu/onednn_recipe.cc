// Shared by all families.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_recipe.h"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/round_up.h"
#include "kernels/cpu/memory_desc.h"
#include "kernels/cpu/onednn_faults.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/winograd/small_tile_weights.h"

namespace partita {

namespace {

// How oneDNN names its own loops: "ref:any".
constexpr absl::string_view kReferenceLoop = "ref";

// An engine without oneDNN's primitive cache. The cache treats layouts as equal
// that differ only in the strides of dimensions of extent 1, and returns the
// implementation of the other: a node's binding would depend on previous
// queries. No hot path repeats a query, so the cache is not needed.
const dnnl::engine* NewForgetfulEngine() {
  dnnl::set_primitive_cache_capacity(0);
  CapOnednn();
  return new dnnl::engine(dnnl::engine::kind::cpu, 0);
}

}  // namespace

const dnnl::engine& CpuEngine() {
  static const dnnl::engine& engine = *NewForgetfulEngine();
  return engine;
}

dnnl::primitive_attr StrictAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  // Whatever DNNL_DEFAULT_FPMATH_MODE says.
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  return attributes;
}

absl::Status NotOffered(absl::string_view why) {
  return absl::UnimplementedError(absl::StrCat("onednn: ", why));
}

namespace {

// Row-major for values of another rank than the layout's.
void Append(const TensorType& type, absl::string_view layout,
            std::vector<std::optional<Layout>>& layouts) {
  layouts.emplace_back(std::in_place);
  if (layout.empty()) return;
  const absl::StatusOr<Layout> parsed = ParseLayout(layout, type.rank());
  if (parsed.ok()) *layouts.back() = *parsed;
}

}  // namespace

LayoutWish UniformWish(const OpView& node, absl::string_view layout) {
  LayoutWish wish;
  for (int i = 0; i < node.num_operands(); ++i) {
    Append(node.operand_type(i), layout, wish.operands);
  }
  for (int i = 0; i < node.num_results(); ++i) {
    Append(node.result_type(i), layout, wish.results);
  }
  return wish;
}

LayoutWish RowMajorWish(const OpView& node) { return UniformWish(node, ""); }

bool IsRowMajor(const LayoutWish& wish) {
  const auto plain = [](const std::optional<Layout>& layout) {
    return layout.has_value() && layout->is_row_major();
  };
  return std::all_of(wish.operands.begin(), wish.operands.end(), plain) &&
         std::all_of(wish.results.begin(), wish.results.end(), plain);
}

void TakeLayouts(const LayoutWish& wish, OnednnRecipe& recipe) {
  for (const auto& layout : wish.operands) recipe.operands.push_back(*layout);
  for (const auto& layout : wish.results) recipe.results.push_back(*layout);
}

LayoutWish AnyWish(const OpView& node) {
  LayoutWish wish;
  wish.operands.resize(node.num_operands());
  wish.results.resize(node.num_results());
  return wish;
}

LayoutWish GivenWish(const OpView& node) {
  LayoutWish wish;
  for (int i = 0; i < node.num_operands(); ++i) {
    wish.operands.push_back(node.operand_type(i).layout);
  }
  for (int i = 0; i < node.num_results(); ++i) {
    wish.results.push_back(node.result_type(i).layout);
  }
  return wish;
}

int VectorChannels() {
  CapOnednn();
  static const int channels =
      dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? 16 : 8;
  return channels;
}

std::vector<LayoutWish> ImageWishes(const OpView& node) {
  std::vector<LayoutWish> wishes = {RowMajorWish(node)};
  if (node.num_results() == 0) return wishes;
  static constexpr const char* kLast[] = {"acb", "acdb", "acdeb"};
  static constexpr const char* kBlocked[] = {"abc", "abcd", "abcde"};
  const int rank = node.result_type(0).rank();
  if (rank < 3 || rank > 5) return wishes;
  wishes.push_back(UniformWish(node, kLast[rank - 3]));
  wishes.push_back(UniformWish(
      node, absl::StrCat(kBlocked[rank - 3], VectorChannels(), "b")));
  return wishes;
}

bool AllAre(const OpView& node, DType dtype) {
  const auto is_one = [&](const TensorType& type) {
    return type.dtype == dtype && type.num_elements() > 0;
  };
  for (int i = 0; i < node.num_operands(); ++i) {
    if (!is_one(node.operand_type(i))) return false;
  }
  for (int i = 0; i < node.num_results(); ++i) {
    if (!is_one(node.result_type(i))) return false;
  }
  return true;
}

bool IsBf16Product(const OpView& node) {
  return AllAre(node, DType::kBF16) && !node.is(kFused) &&
         node.num_operands() == 2;
}

std::optional<dnnl::memory::desc> WishedDesc(
    const TensorType& type, const std::optional<Layout>& layout) {
  if (!layout.has_value()) return AnyDesc(type.dims, type.dtype);
  return DescOf({type.dtype, type.dims, *layout});
}

int64_t TransformedBytes(const OnednnRecipe& recipe) {
  if (recipe.padded.has_value()) {
    return RoundUp(static_cast<int64_t>(recipe.padded->whole.get_size()),
                   kWorkspaceAlignment);
  }
  if (!recipe.winograd.has_value()) return 0;
  return recipe.winograd->pairs * kWinogradTaps *
         static_cast<int64_t>(sizeof(float));
}

int64_t WorkspaceBytes(const OnednnRecipe& recipe) {
  return TransformedBytes(recipe) +
         static_cast<int64_t>(recipe.primitive.scratchpad_desc().get_size());
}

dnnl::primitive_desc WithoutFirst(dnnl::primitive_desc primitive, int skipped) {
  primitive = WithoutKnownFault(std::move(primitive));
  for (; skipped > 0 && primitive; --skipped) {
    if (!primitive.next_impl()) return {};
    primitive = WithoutKnownFault(std::move(primitive));
  }
  return primitive;
}

std::string ImplementationName(const dnnl::primitive_desc& primitive) {
  return primitive.impl_info_str();
}

bool IsReferenceLoop(const dnnl::primitive_desc& primitive) {
  return absl::StartsWith(ImplementationName(primitive), kReferenceLoop);
}

bool IsReferenceLoop(const Arithmetic& arithmetic) {
  return absl::StartsWith(arithmetic.source, "onednn ") &&
         absl::StartsWith(arithmetic.implementation, kReferenceLoop);
}

int GrantedThreads(const DeviceTraits& device) {
  return std::min(device.threads, omp_get_thread_limit());
}

// OpenMP must not start fewer threads than requested.
ThreadScope::ThreadScope(int threads)
    : before_(omp_get_max_threads()), dynamic_(omp_get_dynamic()) {
  if (threads != before_) omp_set_num_threads(threads);
  if (dynamic_ != 0) omp_set_dynamic(0);
}

ThreadScope::~ThreadScope() {
  if (before_ != omp_get_max_threads()) omp_set_num_threads(before_);
  if (dynamic_ != 0) omp_set_dynamic(dynamic_);
}

}  // namespace partita
