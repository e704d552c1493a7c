// Compares layout copies with the index arithmetic of graph/layout.h, over
// guarded memory.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/copy/layout_copy.h"

#include <cstring>

#include "graph/host_tensor.h"
#include "gtest/gtest.h"
#include "kernels/testing/guarded_buffer.h"

namespace partita {
namespace {

TensorType TypeOf(DType dtype, Shape dims, absl::string_view layout) {
  TensorType type{dtype, dims, {}};
  if (!layout.empty()) type.layout = *ParseLayout(layout, type.rank());
  return type;
}

HostTensor Counting(const TensorType& type) {
  HostTensor row_major(type.RowMajor());
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    SetFromDouble(row_major, i, static_cast<double>(i % 101 + 1));
  }
  HostTensor tensor(type);
  ConvertLayout(row_major, tensor);
  return tensor;
}

void ExpectSameAsIndexed(DType dtype, Shape dims, absl::string_view from,
                         absl::string_view to, int threads) {
  const TensorType from_type = TypeOf(dtype, dims, from);
  const TensorType to_type = TypeOf(dtype, dims, to);
  const HostTensor source = Counting(from_type);
  HostTensor expected(to_type);
  ConvertLayout(source, expected);
  for (const auto side :
       {GuardedBuffer::Side::kAtStart, GuardedBuffer::Side::kAtEnd}) {
    GuardedBuffer given(from_type.num_bytes(), side, std::byte{0});
    std::memcpy(given.data(), source.bytes(), source.byte_span().size());
    given.MakeReadOnly();
    const GuardedBuffer found(to_type.num_bytes(), side, std::byte{0x5a});
    LayoutCopy(from_type, to_type).Run(given.data(), found.data(), threads);
    EXPECT_EQ(std::memcmp(found.data(), expected.bytes(),
                          expected.byte_span().size()),
              0)
        << from_type.ToString() << " to " << to_type.ToString();
    EXPECT_TRUE(found.GapIntact())
        << from_type.ToString() << " to " << to_type.ToString();
  }
}

TEST(LayoutCopy, EveryPairOfLayoutsAgreesWithTheIndexArithmetic) {
  const char* layouts[] = {"",         "acdb",         "abcd16b",
                           "abcd8b",   "dcba",         "abcd16b16a",
                           "abcd8b8a", "abcd4b16a4b",  "bacd24b",
                           "abcd2b2a", "abcd8a16b2a2c"};
  for (Shape dims : {Shape{3, 37, 5, 4}, Shape{1, 16, 1, 7}, Shape{17, 1, 3, 3},
                     Shape{2, 0, 3, 3}}) {
    for (const char* from : layouts) {
      for (const char* to : layouts) {
        ExpectSameAsIndexed(DType::kF32, dims, from, to, 1);
      }
    }
  }
}

TEST(LayoutCopy, ElementsOfEverySize) {
  for (DType dtype : {DType::kI8, DType::kBF16, DType::kF32, DType::kI64}) {
    ExpectSameAsIndexed(dtype, {5, 33}, "", "ba16a4b", 1);
    ExpectSameAsIndexed(dtype, {5, 33}, "ba", "", 1);
    ExpectSameAsIndexed(dtype, {}, "", "", 1);
  }
}

// Tiles of sixteen and of four, and the remainders on either side.
TEST(LayoutCopy, Transposes) {
  for (int64_t channels : {3, 4, 10, 20, 35}) {
    for (int64_t width : {3, 8, 13, 16}) {
      for (const char* layout : {"acdb", "abcd16b"}) {
        const Shape dims = {2, channels, 3, width};
        ExpectSameAsIndexed(DType::kF32, dims, "", layout, 1);
        ExpectSameAsIndexed(DType::kF32, dims, layout, "", 1);
      }
    }
  }
}

// Several dimensions continue where the taps of a window end.
TEST(LayoutCopy, WeightsOfWindows) {
  for (const char* blocks : {"abcd16b16a", "abcd16a16b", "abcd8b8a"}) {
    for (int64_t side : {1, 3, 5, 17}) {
      const Shape dims = {48, 32, side, side};
      ExpectSameAsIndexed(DType::kF32, dims, "", blocks, 1);
      ExpectSameAsIndexed(DType::kF32, dims, blocks, "", 2);
    }
  }
}

TEST(LayoutCopy, TwoThreadsCopyTheSame) {
  for (const char* to : {"", "acdb", "abcd16b", "ba16b16a"}) {
    const Shape dims = to[0] == 'b' ? Shape{301, 499} : Shape{2, 65, 40, 60};
    ExpectSameAsIndexed(DType::kF32, dims, "", to, 2);
    ExpectSameAsIndexed(DType::kF32, dims, to, "", 2);
  }
}

}  // namespace
}  // namespace partita
