// Tests that every number reads back to the same bits.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace partita {
namespace {

// Counts elements whose text does not read back to the same bytes.
int Lost(const HostTensor& tensor) {
  HostTensor again(tensor.type());
  const int64_t size = BitsOf(tensor.type().dtype) / 8;
  int lost = 0;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    const bool read = ParseElement(ElementText(tensor, i), again, i);
    lost += !read || std::memcmp(tensor.bytes() + i * size,
                                 again.bytes() + i * size, size) != 0;
  }
  return lost;
}

TEST(NumberText, EveryHalfAndBFloat16ComesBack) {
  for (DType dtype : {DType::kF16, DType::kBF16}) {
    HostTensor all(TensorType{dtype, {1 << 16}, {}});
    for (int bits = 0; bits < 1 << 16; ++bits) {
      const uint16_t value = static_cast<uint16_t>(bits);
      std::memcpy(all.bytes() + 2 * bits, &value, sizeof(value));
    }
    EXPECT_EQ(Lost(all), 0) << DTypeName(dtype);
  }
}

TEST(NumberText, AnyBytesOfAnyTypeComeBack) {
  std::mt19937_64 random(1);
  for (int dtype = 0; dtype < kNumDTypes; ++dtype) {
    HostTensor tensor(TensorType{static_cast<DType>(dtype), {4096}, {}});
    for (int64_t i = 0; i < tensor.type().num_bytes(); ++i) {
      tensor.bytes()[i] = static_cast<std::byte>(random());
    }
    EXPECT_EQ(Lost(tensor), 0) << DTypeName(static_cast<DType>(dtype));
  }
}

TEST(NumberText, IsShort) {
  EXPECT_EQ(DoubleText(0.1), "0.1");
  EXPECT_EQ(DoubleText(-0.0), "-0");
  EXPECT_EQ(DoubleText(1e-5), "1e-05");
  EXPECT_EQ(DoubleText(std::numeric_limits<double>::infinity()), "inf");
  const HostTensor halves =
      HostTensor::Of<Half>({3}, {Half(0.1), Half(65504), Half(1.0 / 3)});
  EXPECT_EQ(ElementText(halves, 0), "0.1");
  EXPECT_EQ(ElementText(halves, 1), "65504");
  EXPECT_EQ(ElementText(halves, 2), "0.3333");
}

TEST(NumberText, NumbersComeBackAsTheyWere) {
  for (const char* text :
       {"0", "-0", "0.5", "1e+300", "-inf", "9007199254740993",
        "-9223372036854775808", "9223372036854775807", "9223372036854775808",
        "18446744073709551615", "18446744073709551616"}) {
    Number number;
    EXPECT_TRUE(ParseNumber(text, number)) << text;
    EXPECT_EQ(NumberText(number), text);
  }
  Number number;
  EXPECT_TRUE(ParseNumber("1e3", number));
  EXPECT_EQ(NumberText(number), "1000");
  EXPECT_FALSE(ParseNumber("many", number));
}

TEST(NumberText, OtherTextIsRefused) {
  for (absl::string_view text :
       {"", " 1", "1 ", "+1", "1e", "0x10", "1e999", "infinity", "nan(1)",
        "nan:0", "nan:1ffffffffffffffff", "--1", "1.2.3"}) {
    double value = 0;
    EXPECT_FALSE(ParseDouble(text, value)) << text;
  }
  for (absl::string_view text :
       {"", "1.0", "1e3", "9223372036854775808", "+1", "- 1"}) {
    int64_t value = 0;
    EXPECT_FALSE(ParseInt64(text, value)) << text;
  }
  HostTensor byte(TensorType{DType::kU8, {1}, {}});
  EXPECT_FALSE(ParseElement("256", byte, 0));
  EXPECT_FALSE(ParseElement("-1", byte, 0));
  HostTensor half(TensorType{DType::kF16, {1}, {}});
  EXPECT_FALSE(ParseElement("65536", half, 0));
}

}  // namespace
}  // namespace partita
