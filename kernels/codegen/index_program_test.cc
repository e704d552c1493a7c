// How indices depend on a coordinate, at the limits of their type.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/index_program.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace partita {
namespace {

constexpr int64_t kGroup = 4;

Instruction Index(Opcode op, int32_t a = -1, int32_t b = -1, int64_t bits = 0) {
  return {.op = op,
          .type = ScalarType::kI64,
          .a = a,
          .b = b,
          .bits = static_cast<uint64_t>(bits)};
}
Instruction Constant(int64_t value) {
  return Index(Opcode::kConstant, -1, -1, value);
}
Instruction Coordinate() { return Index(Opcode::kCoordinate); }

IndexSlope LastSlope(const ProgramBody& body) {
  return SlopesAlong(body, 0, kGroup).back();
}

TEST(IndexSlopes, FollowSumsAndProductsWithConstants) {
  // 3 c + 8
  const IndexSlope slope =
      LastSlope({{Coordinate(), Constant(3), Index(Opcode::kMul, 0, 1),
                  Constant(8), Index(Opcode::kAdd, 2, 3)},
                 {4}});
  EXPECT_TRUE(slope.known);
  EXPECT_EQ(slope.slope, 3);
  EXPECT_EQ(slope.divisor, 4);
}

TEST(IndexSlopes, OfTheLeastNumberAreThoseOfAMultiple) {
  const IndexSlope slope =
      LastSlope({{Constant(std::numeric_limits<int64_t>::min())}, {0}});
  EXPECT_TRUE(slope.known);
  EXPECT_EQ(slope.slope, 0);
  EXPECT_EQ(slope.divisor, int64_t{1} << 62);
}

// They would be 0 in 64 bits: the same for the whole group.
TEST(IndexSlopes, AreNotKnownBeyondTheirType) {
  const ProgramBody product = {
      {Coordinate(), Constant(int64_t{1} << 40), Index(Opcode::kMul, 0, 1),
       Index(Opcode::kMul, 2, 1)},
      {3}};
  EXPECT_FALSE(LastSlope(product).known);
  const ProgramBody sum = {
      {Coordinate(), Constant(std::numeric_limits<int64_t>::min()),
       Index(Opcode::kMul, 0, 1), Index(Opcode::kAdd, 2, 2)},
      {3}};
  EXPECT_FALSE(LastSlope(sum).known);
  const ProgramBody difference = {
      {Constant(0), Coordinate(), Constant(std::numeric_limits<int64_t>::min()),
       Index(Opcode::kMul, 1, 2), Index(Opcode::kSub, 0, 3)},
      {4}};
  EXPECT_FALSE(LastSlope(difference).known);
}

TEST(IndexSlopes, DivisorsBeyondTheirTypeAreThoseOfAFactor) {
  const IndexSlope slope =
      LastSlope({{Constant(int64_t{1} << 40), Constant(int64_t{1} << 40),
                  Index(Opcode::kMul, 0, 1)},
                 {2}});
  EXPECT_TRUE(slope.known);
  EXPECT_EQ(slope.divisor, int64_t{1} << 40);
}

}  // namespace
}  // namespace partita
