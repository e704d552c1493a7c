// Results of generated kernels that bypass the caches have the same bits.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "graph/host_capacity.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/codegen/interpret.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/native_code/trusted_code.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

// Lines of 1001, the last 9 outside whole vectors; a little more than 4 MiB.
constexpr int64_t kLines = 1050, kColumns = 1001, kSize = kLines * kColumns;
constexpr int64_t kSpare = 32;

OneNode Sum(int64_t lines) {
  return OneNode(kAdd, {{DType::kF32, {lines, kColumns}, {}},
                        {DType::kF32, {kColumns}, {}}});
}

class StreamedResultsTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    one_.graph().node(one_.node().id()).kernel =
        KernelBinding{.kernel = "codegen.elementwise"};
    DeviceTraits device = TestCpu(1);
    device.isa = GetParam();
    const std::vector<OpView> nodes = {one_.node()};
    const auto code_objects = CodegenCatalog().BuildCode(nodes, device);
    ASSERT_TRUE(code_objects.ok()) << code_objects.status();
    entry_ = FindEntry((*code_objects)[0].target, EntryName(one_.node()));
    ASSERT_NE(entry_, nullptr);
    x_.resize(kSize + kSpare);
    for (int64_t i = 0; i < kSize + kSpare; ++i) {
      x_[i] = static_cast<float>(i % 1013) / 7;
    }
    for (int64_t i = 0; i < kColumns; ++i) {
      row_.push_back(static_cast<float>(i) / 3);
    }
    const auto program = ReadProgram(one_.node(), GetParam());
    ASSERT_TRUE(program.ok()) << program.status();
    expected_.resize(kSize);
    void* operands[] = {x_.data(), row_.data()};
    void* result = expected_.data();
    std::vector<uint64_t> registers;
    Interpret(*program, operands, &result, 0, kSize, registers);
  }

  // The first address in `floats` that is a multiple of 64.
  static float* Aligned(std::vector<float>& floats) {
    const uintptr_t beyond = reinterpret_cast<uintptr_t>(floats.data()) % 64;
    return floats.data() + (beyond == 0 ? 0 : (64 - beyond) / sizeof(float));
  }

  void ExpectSum(float* x, float* sum, int64_t begin, int64_t end) {
    void* operands[] = {x, row_.data()};
    void* result = sum;
    entry_(operands, &result, begin, end);
    EXPECT_EQ(std::memcmp(sum + begin, expected_.data() + begin,
                          (end - begin) * sizeof(float)),
              0);
  }

  OneNode one_ = Sum(kLines);
  ElementwiseEntry entry_ = nullptr;
  std::vector<float> x_, row_, expected_;
};

INSTANTIATE_TEST_SUITE_P(Isas, StreamedResultsTest,
                         testing::ValuesIn(ThisHost().isas),
                         [](const auto& info) { return info.param; });

TEST_P(StreamedResultsTest, ToAnyAddressAndToNoOther) {
  std::vector<float> results(kSize + 2 * kSpare);
  for (int64_t shift : {0, 1, 4, 8}) {
    results.assign(results.size(), -1);
    float* sum = Aligned(results) + shift;
    ExpectSum(x_.data(), sum, 0, kSize);
    for (float* at = results.data(); at < sum; ++at) EXPECT_EQ(*at, -1);
    for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(sum[kSize + i], -1);
  }
}

TEST_P(StreamedResultsTest, OfARangeFromAnyElementOn) {
  std::vector<float> results(kSize + kSpare, -1);
  float* sum = Aligned(results);
  ExpectSum(x_.data(), sum, 4321, 654321);
  EXPECT_EQ(sum[4320], -1);
  EXPECT_EQ(sum[654321], -1);
}

TEST_P(StreamedResultsTest, OverAnOperand) {
  float* x = Aligned(x_);
  std::memmove(x, x_.data(), kSize * sizeof(float));
  ExpectSum(x, x, 0, kSize);
}

// A function that bypasses the caches ends with a fence.
TEST_P(StreamedResultsTest, LargeOnesOnly) {
  const auto has_fence = [](int64_t lines) {
    const OneNode node = Sum(lines);
    const auto program = ReadProgram(node.node(), GetParam());
    const auto code = BuildSharedObject({*program}, GetParam());
    EXPECT_TRUE(code.ok()) << code.status();
    return absl::StrContains(*code, "\x0f\xae\xf8");
  };
  EXPECT_FALSE(has_fence(1000));
  EXPECT_TRUE(has_fence(kLines));
}

}  // namespace
}  // namespace partita
