// Recipes with a number of implementations skipped are of the same operation.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_recipe.h"

#include <string>
#include <utility>
#include <vector>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/onednn_family_list.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

using dnnl::memory;
constexpr auto kF32 = memory::data_type::f32;

// All implementations of the convolution, in oneDNN's order.
std::vector<std::string> Implementations(memory::format_tag images) {
  const memory::desc x({2, 16, 9, 9}, kF32, images);
  const memory::desc w({32, 16, 3, 3}, kF32, memory::format_tag::any);
  const memory::desc y({2, 32, 7, 7}, kF32, images);
  const memory::dims ones = {1, 1}, none = {0, 0};
  // oneDNN refers to it when it looks for the next one.
  const dnnl::convolution_forward::desc operation(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      x, w, memory::desc(), y, ones, none, none, none);
  dnnl::primitive_desc primitive = dnnl::convolution_forward::primitive_desc(
      operation, StrictAttributes(), CpuEngine());
  std::vector<std::string> names = {ImplementationName(primitive)};
  while (primitive.next_impl()) names.push_back(ImplementationName(primitive));
  return names;
}

TEST(OnednnRecipe, SkipsImplementationsOfTheSameOperation) {
  const OneNode one(
      kConv, {{DType::kF32, {2, 16, 9, 9}}, {DType::kF32, {32, 16, 3, 3}}});
  for (const auto& [layout, tag] :
       {std::pair("", memory::format_tag::nchw),
        std::pair("acdb", memory::format_tag::nhwc)}) {
    SCOPED_TRACE(layout);
    LayoutWish wish = UniformWish(one.node(), layout);
    wish.operands[1] = {};
    std::vector<std::string> found;
    while (true) {
      wish.skipped = static_cast<int>(found.size());
      const auto recipe = kOnednnConv.describe(one.node(), wish);
      if (!recipe.ok()) break;
      found.push_back(ImplementationName(recipe->primitive));
    }
    EXPECT_EQ(found, Implementations(tag));
  }
}

}  // namespace
}  // namespace partita
