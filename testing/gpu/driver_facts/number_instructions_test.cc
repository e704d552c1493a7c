// The host's side of instructions: values that the PTX ISA and IEEE 754 fix.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/number_instructions.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace partita {
namespace {

uint64_t Host(const std::string& id, uint64_t a, uint64_t b = 0,
              uint64_t c = 0) {
  for (const TestedInstruction& instruction : TestedInstructions()) {
    if (id == instruction.id) return instruction.host(a, b, c);
  }
  ADD_FAILURE() << "found no instruction " << id;
  return 0;
}

TEST(NumberInstructions, IdsAreDifferent) {
  std::set<std::string> ids;
  for (const TestedInstruction& instruction : TestedInstructions()) {
    EXPECT_TRUE(ids.insert(instruction.id).second) << instruction.id;
  }
}

TEST(NumberInstructions, ConversionsToIntegersSaturate) {
  EXPECT_EQ(Host("s32_from_f32", 0x4f000000), 0x7fffffffu);  // 2^31
  EXPECT_EQ(Host("s32_from_f32", 0xcf000001), 0x80000000u);
  EXPECT_EQ(Host("u32_from_f32", 0xbf800000), 0u);  // -1
  EXPECT_EQ(Host("u64_from_f32", 0x5f800000), ~uint64_t{0});
}

TEST(NumberInstructions, NaNToIntegersDependsOnTheWidths) {
  EXPECT_EQ(Host("s32_from_f32", 0x7fc00000), 0u);
  EXPECT_EQ(Host("u32_from_f32", 0x7fc00000), 0u);
  EXPECT_EQ(Host("s32_from_f64", 0x7ff8000000000000), 0x80000000u);
  EXPECT_EQ(Host("s64_from_f32", 0x7fc00000), uint64_t{1} << 63);
}

TEST(NumberInstructions, MinAndMaxKnowTheSignOfZero) {
  EXPECT_EQ(Host("min_f32", 0x00000000, 0x80000000), 0x80000000u);
  EXPECT_EQ(Host("max_f32", 0x80000000, 0x00000000), 0u);
  EXPECT_EQ(Host("min_f32", 0x7fc00000, 0x3f800000), 0x3f800000u);
}

// Rounded twice, by way of f32 or f64, these would differ.
TEST(NumberInstructions, NarrowSumsAreRoundedOnce) {
  // f16: 1 + 2^-11 is a tie, which 2^-24 more breaks upwards.
  EXPECT_EQ(Host("fma_f16", 0x3c00, 0x3c00, 0x1000), 0x3c00u);
  EXPECT_EQ(Host("fma_f16", 0x3c01, 0x1000, 0x3c00), 0x3c01u);
  // bf16: 1 + 2^-8 is a tie, which 2^-15 more breaks upwards.
  EXPECT_EQ(Host("add_bf16", 0x3f80, 0x3b80), 0x3f80u);
  EXPECT_EQ(Host("fma_bf16", 0x3f81, 0x3b80, 0x3f80), 0x3f81u);
}

TEST(NumberInstructions, ANaNStaysOne) {
  EXPECT_TRUE(IsNaN(NumberKind::kBF16, Host("bf16_from_f32", 0x7f800001)));
  EXPECT_FALSE(IsNaN(NumberKind::kBF16, Host("bf16_from_f32", 0x7f7fffff)));
  EXPECT_EQ(CanonicalNaN(NumberKind::kF32), 0x7fffffffu);
  EXPECT_EQ(CanonicalNaN(NumberKind::kF16), 0x7fffu);
}

}  // namespace
}  // namespace partita
