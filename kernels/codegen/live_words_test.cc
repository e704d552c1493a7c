// How many registers the values of programs take, and what kernels make of it.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/live_words.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/index_builder.h"
#include "kernels/codegen/program_builder.h"

namespace partita {
namespace {

constexpr int64_t kElements = 1 << 20;

// A sum with this many operands, which are all read before the first addition.
ElementwiseProgram SumOf(int operands, ScalarType type) {
  ElementwiseProgram program;
  program.loops = {kElements};
  ProgramBuilder builder(/*has_fma=*/true);
  std::vector<Register> read;
  for (int i = 0; i < operands; ++i) {
    program.operands.push_back({type, {1}});
    read.push_back(builder.Load(type, i));
  }
  Register sum = read[0];
  for (int i = 1; i < operands; ++i) sum = sum + read[i];
  builder.Finish({sum}, program);
  return program;
}

// Sums of products along the last dimension of one operand and the first of
// the other.
IndexProgram Matmul(int64_t rows, int64_t columns, int64_t inner) {
  IndexProgram program;
  program.loops = {rows, columns};
  program.steps = {inner};
  program.operands = {{ScalarType::kF32, rows * inner},
                      {ScalarType::kF32, inner * columns}};
  const auto zero = [](const IndexReader& read) -> std::vector<Register> {
    return {read.Constant(ScalarType::kF32, 0)};
  };
  SetFirst(zero, /*has_fma=*/true, program);
  SetStep(
      [&](const IndexReader& read) -> std::vector<Register> {
        const Register a =
            read.Number(0, read.Loop(0) * read.Index(inner) + read.Step(0));
        const Register b =
            read.Number(1, read.Step(0) * read.Index(columns) + read.Loop(1));
        return {Fma(a, b, read.State(0))};
      },
      /*has_fma=*/true, program);
  SetLast(
      [](const IndexReader& read) -> std::vector<Register> {
        return {read.State(0)};
      },
      /*has_fma=*/true, program);
  return program;
}

// The largest sum of products of a point's row and a step's row.
IndexProgram LargestProduct(int64_t rows, int64_t columns, int64_t size) {
  IndexProgram program;
  program.loops = {rows, columns};
  program.steps = {rows};
  program.operands = {{ScalarType::kF32, rows * size}};
  const auto zero = [](const IndexReader& read) -> std::vector<Register> {
    return {read.Constant(ScalarType::kF32, 0)};
  };
  SetFirst(zero, /*has_fma=*/true, program);
  AddSum(
      size,
      [&](const IndexReader& read) -> std::vector<Register> {
        const Register stride = read.Index(size);
        const Register a = read.Number(0, read.Loop(0) * stride + read.Term());
        const Register b = read.Number(0, read.Step(0) * stride + read.Term());
        return {Fma(a, b, read.SumSoFar(ScalarType::kF32))};
      },
      /*has_fma=*/true, program);
  SetStep(
      [](const IndexReader& read) -> std::vector<Register> {
        const Register product = read.Sum(0);
        const Register most = read.State(0);
        return {Select(most < product, product, most)};
      },
      /*has_fma=*/true, program);
  SetLast(
      [](const IndexReader& read) -> std::vector<Register> {
        return {read.State(0)};
      },
      /*has_fma=*/true, program);
  return program;
}

// The result takes the register of an operand.
TEST(LiveWords, OfElementsAreTheirOperands) {
  EXPECT_EQ(LiveWords(SumOf(2, ScalarType::kF32), 1), 2);
  EXPECT_EQ(LiveWords(SumOf(2, ScalarType::kF64), 1), 4);
}

// Before the first sum all operands of the others are read.
TEST(LiveWords, OfAGroupAreThoseOfOneAndTheOperandsOfTheOthers) {
  EXPECT_EQ(LiveWords(SumOf(2, ScalarType::kF32), 4), 2 + 3 * 2);
  EXPECT_EQ(LiveWords(SumOf(5, ScalarType::kF32), 4), 5 + 3 * 5);
}

TEST(LiveWords, AnOperandThatIsTheSameForAGroupIsThereOnce) {
  ElementwiseProgram program = SumOf(2, ScalarType::kF32);
  program.operands[1].strides = {0};
  EXPECT_EQ(LiveWords(program, 4), 2 + 3);
}

TEST(LiveWords, ConstantsAndBoolsTakeNone) {
  ElementwiseProgram program;
  program.loops = {kElements};
  program.operands = {{ScalarType::kF32, {1}}};
  ProgramBuilder builder(/*has_fma=*/true);
  const Register x = builder.Load(ScalarType::kF32, 0);
  builder.Finish({Select(x < Like(x, 3), Like(x, 3), x)}, program);
  EXPECT_EQ(LiveWords(program, 1), 1);
}

// 32 sums; what is read of 8 rows and of 4 columns; and, of what does not
// change in the loop, 8 rows' offsets and a column.
TEST(LiveWords, OfATileAreItsStatesAndWhatTheyShare) {
  const IndexProgram matmul = Matmul(1024, 1024, 512);
  const IndexTile tile = {.rows_loop = 0, .rows = 8, .group = 4};
  const int64_t words = LiveWords(matmul, tile);
  EXPECT_GE(words, 32 + 8 + 4 + 8 + 1);
  EXPECT_LE(words, 64);
}

TEST(LiveWords, StepsAtOnceReadMoreButHaveOneState) {
  const IndexProgram matmul = Matmul(64, 64, 512);
  IndexTile tile = {.group = 4};
  const int64_t one = LiveWords(matmul, tile);
  tile.steps = 4;
  EXPECT_EQ(LiveWords(matmul, tile), 4 + 4 * (one - 4));
}

TEST(LiveWords, DoNotGrowWithTheTermsOfASum) {
  const IndexTile tile = {.group = 4};
  EXPECT_EQ(LiveWords(LargestProduct(64, 64, 8), tile),
            LiveWords(LargestProduct(64, 64, 4096), tile));
  EXPECT_GT(LiveWords(LargestProduct(64, 64, 8), {.group = 4, .terms = 4}),
            LiveWords(LargestProduct(64, 64, 8), tile));
}

TEST(GpuRegisters, AGroupIsAsLargeAsFits) {
  EXPECT_EQ(GroupElements(SumOf(2, ScalarType::kF32)), 4);
  EXPECT_EQ(GroupElements(SumOf(16, ScalarType::kF32)), 4);  // 64 words
  EXPECT_EQ(GroupElements(SumOf(17, ScalarType::kF32)), 2);
  EXPECT_EQ(GroupElements(SumOf(60, ScalarType::kF32)), 1);
}

TEST(GpuRegisters, ATileIsAsLargeAsFits) {
  const IndexTile tile = TileOf(Matmul(1024, 1024, 512));
  EXPECT_EQ(tile.points(), 32);
  EXPECT_EQ(tile.steps, 1);
  EXPECT_EQ(TileOf(Matmul(64, 64, 512)).steps, 4);
  EXPECT_EQ(TileOf(LargestProduct(64, 64, 512)).terms, 4);
}

// A loop of one round would be code without a use.
TEST(GpuRegisters, FewStepsAreOneRound) {
  EXPECT_EQ(TileOf(Matmul(64, 64, 3)).steps, 3);
  EXPECT_EQ(TileOf(Matmul(64, 64, 7)).steps, 7);
  EXPECT_EQ(TileOf(Matmul(64, 64, 9)).steps, 4);
}

TEST(GpuRegisters, BlocksShareAMultiprocessorsRegisters) {
  EXPECT_EQ(BlocksOfMultiprocessor(0, 256), 3u);
  EXPECT_EQ(BlocksOfMultiprocessor(64, 256), 3u);
  EXPECT_EQ(BlocksOfMultiprocessor(65, 256), 2u);
  EXPECT_EQ(BlocksOfMultiprocessor(112, 256), 2u);
  EXPECT_EQ(BlocksOfMultiprocessor(113, 256), 1u);
  EXPECT_EQ(BlocksOfMultiprocessor(239, 256), 1u);
  EXPECT_EQ(BlocksOfMultiprocessor(64, 128), 6u);
}

TEST(GpuRegisters, NoThreadHasMoreThanItsRegisters) {
  EXPECT_TRUE(FitsThread(239));
  EXPECT_FALSE(FitsThread(240));
  EXPECT_TRUE(FitsThread(ThreadWords(SumOf(64, ScalarType::kF32))));
  EXPECT_FALSE(FitsThread(ThreadWords(SumOf(128, ScalarType::kF64))));
}

}  // namespace
}  // namespace partita
