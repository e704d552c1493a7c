// oneDNN's kernels for another instruction set than this process uses.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_child.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/onednn_answers.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/cpu/onednn_question.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

TensorType F32(Shape dims) { return {DType::kF32, std::move(dims), {}}; }

OneNode Convolution() {
  return OneNode(kConv, {F32({2, 32, 14, 14}), F32({32, 32, 3, 3}), F32({32})},
                 {{"pads_before", Ints{1, 1}}, {"pads_after", Ints{1, 1}}});
}

DeviceTraits CpuWith(const std::string& isa) {
  DeviceTraits device = TestCpu(2);
  device.isa = isa;
  return device;
}

// The fastest kernel for the convolution on such a device, and its layouts.
std::string Fastest(const std::string& isa) {
  const OneNode node = Convolution();
  const std::vector<KernelChoice> choices =
      OnednnCatalog().Choices(node.node(), CpuWith(isa));
  EXPECT_TRUE(CheckOnednn(CpuWith(isa)).ok()) << CheckOnednn(CpuWith(isa));
  if (choices.empty()) return "none";
  return absl::StrCat(ArithmeticsText(choices[0].arithmetics), " ",
                      choices[0].results[0].ToString());
}

TEST(OnednnChild, EachInstructionSetHasItsOwnKernelsAndBlocks) {
  EXPECT_EQ(Fastest("sse4"), "onednn 2.6.3 jit:sse41 threads 2 abcd8b");
  EXPECT_EQ(Fastest("avx2"), "onednn 2.6.3 jit:avx2 threads 2 abcd8b");
}

// Also on a processor without it, which emulates CPUID.
TEST(OnednnChild, OfAWiderOneThanTheProcessorHasToo) {
  const std::string fastest = Fastest("avx512");
  EXPECT_TRUE(absl::StrContains(fastest, ":avx512_core threads 2")) << fastest;
}

bool Same(const KernelChoice& a, const KernelChoice& b) {
  return a.kernel == b.kernel && a.operands == b.operands &&
         a.results == b.results && a.workspace == b.workspace &&
         a.in_place == b.in_place && a.seconds == b.seconds &&
         a.arithmetics == b.arithmetics;
}

TEST(OnednnChild, AnswersAreThoseOfAProcessThatUsesTheSetItself) {
  const std::string isa(IsaOfOnednn());
  ASSERT_FALSE(isa.empty());
  const OneNode node = Convolution();
  const std::vector<KernelChoice> own = AskOnednn(node.node(), CpuWith(isa));
  const auto answer =
      OnednnChild::For(isa).Ask(OnednnQuestionText(node.node(), CpuWith(isa)));
  ASSERT_TRUE(answer.ok()) << answer.status();
  const auto asked = ParseOnednnAnswer(*answer, node.node());
  ASSERT_TRUE(asked.ok()) << asked.status();
  ASSERT_EQ(asked->size(), own.size());
  for (size_t i = 0; i < own.size(); ++i) {
    EXPECT_TRUE(Same((*asked)[i], own[i]))
        << ArithmeticsText(own[i].arithmetics);
  }
}

TEST(OnednnChild, ASetThatCannotBeQueriedIsAnErrorWithARemedy) {
  const OneNode node = Convolution();
  EXPECT_TRUE(OnednnCatalog().Choices(node.node(), CpuWith("mmix")).empty());
  const std::string error(CheckOnednn(CpuWith("mmix")).message());
  EXPECT_EQ(error, absl::StrCat(
                       "onednn cannot report on this host which kernels it has "
                       "for a cpu with isa mmix: found an instruction set that "
                       "oneDNN does not know; compile on a host that has it, "
                       "or give the device the isa that oneDNN uses here, ",
                       IsaOfOnednn()));
}

TEST(OnednnChild, AnInvalidQuestionIsAnError) {
  const auto answer = OnednnChild::For("sse4").Ask("nonsense");
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(answer.status().message(),
                                "found a question `nonsense`"))
      << answer.status();
}

}  // namespace
}  // namespace partita
