// Layouts: text, padding and positions.
// SPDX-License-Identifier: Apache-2.0

#include "graph/layout.h"

#include <set>

#include "graph/host_tensor.h"
#include "graph/tensor_type.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(Layout, TextRoundTrips) {
  for (const char* text : {"acdb", "abcd16b", "abcd16b16a", "cab4c2a"}) {
    const absl::StatusOr<Layout> layout =
        ParseLayout(text, text[1] == 'a' ? 3 : 4);
    ASSERT_TRUE(layout.ok()) << layout.status();
    EXPECT_EQ(layout->ToString(), text);
  }
}

TEST(Layout, TheIdentityIsRowMajor) {
  const absl::StatusOr<Layout> layout = ParseLayout("abc", 3);
  ASSERT_TRUE(layout.ok());
  EXPECT_TRUE(layout->is_row_major());
  EXPECT_EQ(*layout, Layout());
}

TEST(Layout, ErrorsSayWhatIsWrong) {
  const auto why = [](absl::string_view text, int rank) {
    return std::string(ParseLayout(text, rank).status().message());
  };
  EXPECT_NE(why("aab", 3).find("a dimension named twice"), std::string::npos);
  EXPECT_NE(why("abd", 3).find("past the last dimension"), std::string::npos);
  EXPECT_NE(why("ab", 3).find("found 2 dimensions for rank 3"),
            std::string::npos);
  EXPECT_NE(why("abc16", 3).find("no useful size"), std::string::npos);
  EXPECT_NE(why("abc99999b", 3).find("no useful size"), std::string::npos);
  EXPECT_NE(why("abc16z", 3).find("no dimension"), std::string::npos);
}

TEST(Layout, BlocksPadTheirDimension) {
  const TensorType type{DType::kF32, {1, 20, 3, 3}, *ParseLayout("abcd16b", 4)};
  EXPECT_EQ(PhysicalDims(type.layout, type.dims), Shape({1, 2, 3, 3, 16}));
  EXPECT_EQ(type.num_elements(), 180);
  EXPECT_EQ(type.num_stored_elements(), 288);
  EXPECT_EQ(type.num_bytes(), 1152);
  EXPECT_EQ(type.ToString(), "f32[1, 20, 3, 3]{abcd16b}");
}

TEST(Layout, EveryElementHasItsOwnPosition) {
  const Shape dims = {5, 7, 3};
  for (const char* text : {"cab", "abc4b", "bac2a3b2a"}) {
    const Layout layout = *ParseLayout(text, 3);
    std::set<int64_t> places;
    for (int64_t a = 0; a < 5; ++a) {
      for (int64_t b = 0; b < 7; ++b) {
        for (int64_t c = 0; c < 3; ++c) {
          places.insert(PhysicalOffset(layout, dims, Shape{a, b, c}));
        }
      }
    }
    EXPECT_EQ(places.size(), 105u) << text;
    EXPECT_GE(*places.begin(), 0);
    EXPECT_LT(*places.rbegin(),
              (TensorType{DType::kF32, dims, layout}.num_stored_elements()));
  }
}

TEST(ConvertLayout, RoundTripKeepsBytesAndZerosPadding) {
  HostTensor plain(TensorType{DType::kI32, {3, 5, 2}, {}});
  for (int i = 0; i < 30; ++i) plain.data<int32_t>()[i] = i + 1;
  HostTensor blocked(
      TensorType{DType::kI32, {3, 5, 2}, *ParseLayout("abc4b", 3)});
  ConvertLayout(plain, blocked);
  int64_t zeros = 0;
  for (int32_t value : blocked.data<int32_t>()) zeros += value == 0;
  EXPECT_EQ(zeros, blocked.type().num_stored_elements() - 30);
  HostTensor back(plain.type());
  ConvertLayout(blocked, back);
  EXPECT_EQ(back.data<int32_t>(), plain.data<int32_t>());
}

TEST(CheckType, RefusesInvalidTypes) {
  EXPECT_FALSE(CheckType({DType::kF32, {-1}, {}}).ok());
  EXPECT_FALSE(CheckType({DType::kF32, {int64_t{1} << 62, 8}, {}}).ok());
  // An empty tensor must not hide an excessive extent.
  EXPECT_FALSE(CheckType({DType::kF32, {0, int64_t{1} << 62}, {}}).ok());
  EXPECT_FALSE(CheckType({DType::kF32, Shape(kMaxRank + 1, 1), {}}).ok());
  EXPECT_FALSE(CheckType({DType::kF32, {2}, *ParseLayout("ba", 2)}).ok());
  EXPECT_TRUE(CheckType({DType::kF32, {0, 3}, {}}).ok());
}

}  // namespace
}  // namespace partita
