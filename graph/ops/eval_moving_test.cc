// Ops that move, select and place elements, against hand-computed values.
// SPDX-License-Identifier: Apache-2.0

#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_list.h"
#include "graph/ops/testing/run_op.h"
#include "graph/text/number_text.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(EvalMovingTest, BitsOfAnotherType) {
  EXPECT_EQ(Show(kBitCast, List(F({2}, {1, -2})), {{"to", DType::kU32}}),
            "u32[2] 1065353216 3221225472");
  EXPECT_EQ(Show(kBitCast, List(HostTensor::Of<uint8_t>({3}, {0, 1, 6})),
                 {{"to", DType::kBool}}),
            "bool[3] 0 1 1");
}

TEST(EvalMovingTest, ReshapeTransposeExpandTile) {
  EXPECT_EQ(Show(kReshape, List(Counting({2, 3})), {{"shape", Ints{3, 2}}}),
            "f32[3, 2] 0 1 2 3 4 5");
  EXPECT_EQ(Show(kTranspose, List(Counting({2, 3})), {{"perm", Ints{1, 0}}}),
            "f32[3, 2] 0 3 1 4 2 5");
  EXPECT_EQ(Show(kTranspose, List(Counting({2, 1, 3, 2})),
                 {{"perm", Ints{3, 0, 1, 2}}}),
            "f32[2, 2, 1, 3] 0 2 4 6 8 10 1 3 5 7 9 11");
  EXPECT_EQ(Show(kExpand, List(Counting({2, 1})), {{"shape", Ints{2, 2, 3}}}),
            "f32[2, 2, 3] 0 0 0 1 1 1 0 0 0 1 1 1");
  EXPECT_EQ(Show(kTile, List(Counting({2, 2})), {{"repeats", Ints{2, 2}}}),
            "f32[4, 4] 0 1 0 1 2 3 2 3 0 1 0 1 2 3 2 3");
}

TEST(EvalMovingTest, SliceStepsEitherWay) {
  EXPECT_EQ(
      Show(kSlice, List(Counting({6})),
           {{"starts", Ints{5}}, {"sizes", Ints{3}}, {"steps", Ints{-2}}}),
      "f32[3] 5 3 1");
  EXPECT_EQ(Show(kSlice, List(Counting({3, 4})),
                 {{"starts", Ints{1, 0}},
                  {"sizes", Ints{2, 2}},
                  {"steps", Ints{1, 3}}}),
            "f32[2, 2] 4 7 8 11");
  EXPECT_EQ(Show(kSlice, List(Counting({4})),
                 {{"starts", Ints{4}}, {"sizes", Ints{0}}}),
            "f32[0]");
}

TEST(EvalMovingTest, ConcatAndSplitUndoEachOther) {
  EXPECT_EQ(
      Show(kConcat, List(Counting({2, 1}), Counting({2, 2})), {{"axis", 1}}),
      "f32[2, 3] 0 0 1 1 2 3");
  const auto parts = RunOp(kSplit, List(Counting({2, 3})),
                           {{"axis", -1}, {"sizes", Ints{1, 2}}});
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(Show((*parts)[0]), "f32[2, 1] 0 3");
  EXPECT_EQ(Show((*parts)[1]), "f32[2, 2] 1 2 4 5");
}

TEST(EvalMovingTest, PadModes) {
  const auto pad = [](const char* mode, int64_t before, int64_t after) {
    return Show(kPad, List(Counting({3})),
                {{"before", Ints{before}},
                 {"after", Ints{after}},
                 {"mode", mode},
                 {"value", Number(9)}});
  };
  EXPECT_EQ(pad("constant", 1, 2), "f32[6] 9 0 1 2 9 9");
  EXPECT_EQ(pad("reflect", 2, 2), "f32[7] 2 1 0 1 2 1 0");
  EXPECT_EQ(pad("edge", 2, 1), "f32[6] 0 0 0 1 2 2");
  EXPECT_EQ(pad("constant", -1, 1), "f32[3] 1 2 9");
}

// An empty result may have an extent that is too long to loop over.
TEST(EvalMovingTest, ResultsWithoutElementsTakeNoTime) {
  constexpr int64_t kLong = int64_t{1} << 40;
  const auto none = [] { return F({0, kLong}, {}); };
  const std::string empty = absl::StrCat("f32[0, ", kLong, "]");
  EXPECT_EQ(Show(kTile, List(none()), {{"repeats", Ints{3, 1}}}), empty);
  EXPECT_EQ(
      Show(kPad, List(none()), {{"before", Ints{0, 0}}, {"after", Ints{0, 0}}}),
      empty);
  EXPECT_EQ(Show(kResize, List(F({0, 1}, {})),
                 {{"sizes", Ints{0, kLong}}, {"mode", "nearest"}}),
            empty);
  EXPECT_EQ(Show(kCumsum, List(none()), {{"axis", 0}}), empty);
  EXPECT_EQ(Show(kLpNorm, List(none()), {{"axis", 0}}), empty);
  EXPECT_EQ(Show(kTopK, List(none()), {{"k", 3}}), "f32[0, 3]");
  EXPECT_EQ(
      Show(kGather, List(F({kLong, 1, 0}, {}), I({1}, {0})), {{"axis", 1}}),
      absl::StrCat("f32[", kLong, ", 1, 0]"));
}

TEST(EvalMovingTest, GathersSelectByIndex) {
  EXPECT_EQ(
      Show(kGather, List(Counting({2, 3}), I({2}, {-1, 0})), {{"axis", 1}}),
      "f32[2, 2] 2 0 5 3");
  EXPECT_EQ(Show(kGather, List(Counting({2, 3}), I({}, {1}))), "f32[3] 3 4 5");
  EXPECT_EQ(
      Show(kGatherElements, List(Counting({2, 3}), I({2, 2}, {0, -1, 1, 0})),
           {{"axis", 1}}),
      "f32[2, 2] 0 2 4 3");
  EXPECT_EQ(Show(kGatherNd, List(Counting({2, 3}), I({2, 2}, {0, 1, 1, -1}))),
            "f32[2] 1 5");
  EXPECT_EQ(Show(kGatherNd, List(Counting({2, 3}), I({2, 1}, {2, 0})),
                 {{"batch_dims", 1}}),
            "f32[2] 2 3");
}

TEST(EvalMovingTest, ScattersPlaceAndReduce) {
  EXPECT_EQ(Show(kScatterElements,
                 List(Counting({4}), I({2}, {1, -1}), F({2}, {10, 20}))),
            "f32[4] 0 10 2 20");
  EXPECT_EQ(Show(kScatterElements,
                 List(Counting({4}), I({2}, {1, 1}), F({2}, {10, 20})),
                 {{"reduction", "add"}}),
            "f32[4] 0 31 2 3");
  EXPECT_EQ(Show(kScatterNd,
                 List(Counting({3, 2}), I({1, 1}, {1}), F({1, 2}, {7, -7}))),
            "f32[3, 2] 0 1 7 -7 4 5");
  EXPECT_EQ(
      Show(kScatterNd, List(Counting({3}), I({2, 1}, {1, 2}), F({2}, {5, 1})),
           {{"reduction", "max"}}),
      "f32[3] 0 5 2");
}

TEST(EvalMovingTest, AnIndexOutsideIsReported) {
  EXPECT_EQ(Show(kGather, List(Counting({2}), I({1}, {2}))),
            "while evaluating gather %2: found index 2; expected -2..1; "
            "correct the indices");
}

TEST(EvalMovingTest, DepthAndSpace) {
  EXPECT_EQ(Show(kDepthToSpace, List(Counting({1, 8, 1, 1})), {{"block", 2}}),
            "f32[1, 2, 2, 2] 0 2 4 6 1 3 5 7");
  EXPECT_EQ(Show(kDepthToSpace, List(Counting({1, 8, 1, 1})),
                 {{"block", 2}, {"mode", "crd"}}),
            "f32[1, 2, 2, 2] 0 1 2 3 4 5 6 7");
  EXPECT_EQ(Show(kSpaceToDepth, List(F({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7})),
                 {{"block", 2}}),
            "f32[1, 8, 1, 1] 0 1 2 3 4 5 6 7");
}

TEST(EvalMovingTest, SourcesShapesAndTriangles) {
  EXPECT_EQ(
      Show(kFill, {},
           {{"dtype", DType::kI32}, {"shape", Ints{2}}, {"value", Number(3)}}),
      "i32[2] 3 3");
  EXPECT_EQ(Show(kIota, {},
                 {{"dtype", DType::kF32},
                  {"start", Number(1)},
                  {"step", Number(0.5)},
                  {"count", 3}}),
            "f32[3] 1 1.5 2");
  EXPECT_EQ(Show(kShape, List(Counting({2, 3, 4})), {{"start", -2}}),
            "i64[2] 3 4");
  EXPECT_EQ(Show(kShape, List(Counting({2, 3, 4})), {{"end", 1}}), "i64[1] 2");
  EXPECT_EQ(Show(kSize, List(Counting({2, 3, 4}))), "i64[] 24");
  EXPECT_EQ(Show(kTrilu, List(Counting({2, 3})), {{"k", 1}}),
            "f32[2, 3] 0 1 2 0 0 5");
  EXPECT_EQ(Show(kTrilu, List(Counting({2, 3})), {{"upper", false}}),
            "f32[2, 3] 0 0 0 3 4 0");
}

// Each element as text: i64[2] 9007199254740993 ...
std::string Exactly(const OpDef& op, std::vector<HostTensor> operands,
                    Attributes attributes) {
  const auto results = RunOp(op, std::move(operands), std::move(attributes));
  if (!results.ok()) return std::string(results.status().message());
  std::string text = (*results)[0].type().ToString();
  for (int64_t i = 0; i < (*results)[0].type().num_elements(); ++i) {
    absl::StrAppend(&text, " ", ElementText((*results)[0], i));
  }
  return text;
}

TEST(EvalMovingTest, IntegersOfSourcesAreExact) {
  constexpr int64_t kOdd = (int64_t{1} << 53) + 1;
  const auto filled = [](DType dtype, Number value) {
    return Exactly(kFill, {},
                   {{"dtype", dtype}, {"shape", Ints{1}}, {"value", value}});
  };
  EXPECT_EQ(filled(DType::kI64, Number(kOdd)), "i64[1] 9007199254740993");
  EXPECT_EQ(filled(DType::kI64, Number(INT64_MIN)),
            "i64[1] -9223372036854775808");
  EXPECT_EQ(filled(DType::kI64, Number(INT64_MAX)),
            "i64[1] 9223372036854775807");
  EXPECT_EQ(filled(DType::kU64, Number(UINT64_MAX)),
            "u64[1] 18446744073709551615");
  EXPECT_EQ(filled(DType::kF32, Number(-0.0)), "f32[1] -0");
  EXPECT_EQ(
      Exactly(
          kPad, List(I({1}, {5})),
          {{"before", Ints{1}}, {"after", Ints{0}}, {"value", Number(kOdd)}}),
      "i64[2] 9007199254740993 5");
}

TEST(EvalMovingTest, IotasOfIntegersAreExactAndWrap) {
  const auto iota = [](DType dtype, Number start, Number step) {
    return Exactly(kIota, {},
                   {{"dtype", dtype},
                    {"start", start},
                    {"step", step},
                    {"count", int64_t{3}}});
  };
  EXPECT_EQ(iota(DType::kI64, Number((int64_t{1} << 53) + 1), Number(2)),
            "i64[3] 9007199254740993 9007199254740995 9007199254740997");
  EXPECT_EQ(iota(DType::kI64, Number(INT64_MAX), Number(1)),
            "i64[3] 9223372036854775807 -9223372036854775808 "
            "-9223372036854775807");
  EXPECT_EQ(iota(DType::kU64, Number(UINT64_MAX - 1), Number(1)),
            "u64[3] 18446744073709551614 18446744073709551615 0");
  EXPECT_EQ(iota(DType::kU8, Number(1), Number(-1)), "u8[3] 1 0 255");
  EXPECT_EQ(iota(DType::kI32, Number(0.5), Number(0.5)), "i32[3] 0 1 1");
  EXPECT_EQ(iota(DType::kF32, Number(0x1p62), Number(0x1p62)),
            "f32[3] 4.611686e+18 9.223372e+18 1.3835058e+19");
}

TEST(EvalMovingTest, OneHot) {
  EXPECT_EQ(
      Show(kOneHot, List(I({3}, {1, -1, 7}), F({2}, {0, 5})), {{"depth", 3}}),
      "f32[3, 3] 0 5 0 0 0 5 0 0 0");
  EXPECT_EQ(Show(kOneHot, List(I({2}, {1, 0}), F({2}, {0, 5})),
                 {{"depth", 2}, {"axis", 0}}),
            "f32[2, 2] 0 5 5 0");
}

TEST(EvalMovingTest, TopKTakesTheFirstOfEquals) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto top = RunOp(kTopK, List(F({5}, {1, 3, 2, 3, 0})), {{"k", 3}});
  ASSERT_TRUE(top.ok());
  EXPECT_EQ(Show((*top)[0]), "f32[3] 3 3 2");
  EXPECT_EQ(Show((*top)[1]), "i64[3] 1 3 2");
  top = RunOp(kTopK, List(F({2, 2}, {1, nan, 0, 4})),
              {{"k", 1}, {"axis", 0}, {"largest", false}});
  ASSERT_TRUE(top.ok());
  EXPECT_EQ(Show((*top)[0]), "f32[1, 2] 0 4");
  EXPECT_EQ(Show((*top)[1]), "i64[1, 2] 1 1");
}

}  // namespace
}  // namespace partita
