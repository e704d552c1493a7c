// Tests known numbers, ranges and variances.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/random_tensor.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

TEST(RandomTensor, HasKnownNumbers) {
  EXPECT_EQ(RandomWord(1, 0), RandomWord(1, 0));
  EXPECT_NE(RandomWord(1, 0), RandomWord(1, 1));
  EXPECT_NE(RandomWord(1, 0), RandomWord(2, 0));
  const HostTensor tensor = RandomTensor({DType::kF32, {2}, {}}, 7, -1, 1);
  EXPECT_EQ(tensor.data<float>()[0],
            static_cast<float>(-1 + 2 * RandomUnit(7, 0)));
}

TEST(RandomTensor, WithinItsRange) {
  for (DType dtype : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16,
                      DType::kI32, DType::kI8, DType::kU8}) {
    const HostTensor tensor = RandomTensor({dtype, {1000}, {}}, 3, 2, 9);
    for (int i = 0; i < 1000; ++i) {
      EXPECT_GE(GetAsDouble(tensor, i), 2);
      EXPECT_LE(GetAsDouble(tensor, i), 9);
    }
  }
}

TEST(RandomTensor, HeWeightsHaveTheirVariance) {
  const HostTensor weights = HeWeights({100, 100}, 50, 5);
  double sum = 0;
  double squares = 0;
  for (float w : weights.data<float>()) {
    sum += w;
    squares += w * w;
  }
  EXPECT_NEAR(sum / 10000, 0, 0.01);
  EXPECT_NEAR(squares / 10000, 2.0 / 50, 0.002);
}

}  // namespace
}  // namespace partita
