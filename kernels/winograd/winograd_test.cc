// Compares the transforms with the paper's matrices, in f64; and checks that
// sums depend only on the operands.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/vector/block_product.h"
#include "kernels/vector/vector_code.h"
#include "kernels/winograd/convolution.h"
#include "kernels/winograd/image_transforms.h"
#include "kernels/winograd/narrow_convolution.h"
#include "kernels/winograd/weight_transforms.h"

namespace partita {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Lavin and Gray (2015), F(4x4, 3x3).
const Matrix kB = {{4, 0, 0, 0, 0, 0},      {0, -4, 4, -2, 2, 4},
                   {-5, -4, -4, -1, -1, 0}, {0, 1, -1, 2, -2, -5},
                   {1, 1, 1, 1, 1, 0},      {0, 0, 0, 0, 0, 1}};
const Matrix kG = {{1. / 4, 0, 0},
                   {-1. / 6, -1. / 6, -1. / 6},
                   {-1. / 6, 1. / 6, -1. / 6},
                   {1. / 24, 1. / 12, 1. / 6},
                   {1. / 24, -1. / 12, 1. / 6},
                   {0, 0, 1}};
const Matrix kA = {{1, 0, 0, 0}, {1, 1, 1, 1},   {1, -1, 1, -1},
                   {1, 2, 4, 8}, {1, -2, 4, -8}, {0, 0, 0, 1}};

Matrix Transposed(const Matrix& m) {
  Matrix t(m[0].size(), std::vector<double>(m.size()));
  for (size_t i = 0; i < m.size(); ++i) {
    for (size_t j = 0; j < m[0].size(); ++j) t[j][i] = m[i][j];
  }
  return t;
}

Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<double>(b[0].size()));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b[0].size(); ++j) {
      for (size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

// m tile m'.
Matrix Spread(const Matrix& m, const Matrix& tile) {
  return Product(Product(m, tile), Transposed(m));
}

std::vector<float> RandomFloats(int64_t count, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = float(random() >> 40) * 0x1p-23f - 1;
  return values;
}

void ExpectNear(double found, double expected, double largest) {
  EXPECT_NEAR(found, expected, largest * 1e-6);
}

// A checksum of the bits.
uint64_t ChecksumOf(std::initializer_list<std::vector<float>> all) {
  uint64_t sum = 0;
  for (const std::vector<float>& values : all) {
    for (const float& v : values) {
      uint32_t bits;
      std::memcpy(&bits, &v, sizeof(bits));
      sum = sum * 1000003 + bits;
    }
  }
  return sum;
}

// Two images of 32 channels, 6 high and 9 wide.
constexpr int64_t kChannels = 32, kHeight = 6, kWidth = 9;
const TiledConvolution kConvolution = TileConvolution(
    2, kChannels, kHeight, kWidth, kChannels, kHeight, kWidth, 1, 1);

double ElementOf(const std::vector<float>& images, int64_t image,
                 int64_t channel, int64_t y, int64_t x) {
  if (y < 0 || x < 0 || y >= kHeight || x >= kWidth) return 0;
  const int64_t block = image * (kChannels / 16) + channel / 16;
  return images[((block * kHeight + y) * kWidth + x) * 16 + channel % 16];
}

Matrix TileAt(const std::vector<float>& images, int64_t tile, int64_t channel,
              int64_t before, int64_t side) {
  const int64_t image = tile / 6, down = tile / 3 % 2, across = tile % 3;
  Matrix m(side, std::vector<double>(side));
  for (int64_t i = 0; i < side; ++i) {
    for (int64_t j = 0; j < side; ++j) {
      m[i][j] = ElementOf(images, image, channel, down * 4 + i - before,
                          across * 4 + j - before);
    }
  }
  return m;
}

struct Taps {
  explicit Taps(int64_t rows, int64_t channels = kChannels)
      : floats(TapMatrices::Floats(rows, channels)),
        matrices(floats.data(), rows, channels) {}
  double At(int64_t tap, int64_t row, int64_t channel) const {
    return matrices.Element(row, channel)[tap * matrices.tap_step];
  }
  std::vector<float> floats;
  TapMatrices matrices;
};

// The same images as a source and as a result's gradient.
struct TransformedImages {
  TransformedImages() {
    TransformSource(kConvolution.source, x.data(), {0, 12, 0, 0},
                    source.matrices);
    TransformResultGradient(kConvolution.result, x.data(), {0, 12, 0, 0},
                            gradient.matrices);
  }
  std::vector<float> x = RandomFloats(2 * kChannels * kHeight * kWidth);
  Taps source = Taps(12);
  Taps gradient = Taps(12);
};

TEST(WinogradTransforms, OfSourceAndOfResultsGradient) {
  const TransformedImages images;
  const auto& [x, source, gradient] = images;
  for (int64_t tile = 0; tile < 12; ++tile) {
    for (int64_t channel : {0, 15, 21}) {
      const Matrix d = Spread(Transposed(kB), TileAt(x, tile, channel, 1, 6));
      const Matrix y = Spread(kA, TileAt(x, tile, channel, 0, 4));
      for (int64_t tap = 0; tap < kTaps; ++tap) {
        ExpectNear(source.At(tap, tile, channel), d[tap / 6][tap % 6], 100);
        ExpectNear(gradient.At(tap, tile, channel), y[tap / 6][tap % 6], 100);
      }
    }
  }
}

TEST(WinogradTransforms, ToResult) {
  Taps taps(12);
  taps.floats = RandomFloats(taps.floats.size());
  taps.matrices.at = taps.floats.data();
  const std::vector<float> bias = RandomFloats(kChannels, 2);
  std::vector<float> y(2 * kChannels * kHeight * kWidth);
  TransformToResult(kConvolution.result, taps.matrices, {0, 12, 0, 0},
                    bias.data(), y.data());
  for (int64_t tile = 0; tile < 12; ++tile) {
    for (int64_t channel : {0, 15, 21}) {
      Matrix met(6, std::vector<double>(6));
      for (int64_t tap = 0; tap < kTaps; ++tap) {
        met[tap / 6][tap % 6] = taps.At(tap, tile, channel);
      }
      const Matrix expected = Spread(Transposed(kA), met);
      const Matrix found = TileAt(y, tile, channel, 0, 4);
      const int64_t top = tile / 3 % 2 * 4, left = tile % 3 * 4;
      for (int64_t i = 0; i < 4 && top + i < kHeight; ++i) {
        for (int64_t j = 0; j < 4 && left + j < kWidth; ++j) {
          ExpectNear(found[i][j], expected[i][j] + bias[channel], 100);
        }
      }
    }
  }
}

// Transforms are rounded alike on every processor.
TEST(WinogradTransforms, BitsDoNotDependOnTheProcessor) {
  const TransformedImages images;
  const auto& [x, source, gradient] = images;
  std::vector<float> y(x.size());
  TransformToResult(kConvolution.result, source.matrices, {0, 12, 0, 0},
                    nullptr, y.data());
  EXPECT_EQ(ChecksumOf({source.floats, gradient.floats, y}),
            11260798088787485440u);
}

// Weights [48, 32, 3, 3]: outputs 16 to 48 and inputs 16 to 32.
constexpr int64_t kInputs = 32;
const WeightRange kRange = {kInputs, 16, 32, 16, 16};

Matrix WindowAt(const std::vector<float>& w, int64_t output, int64_t input) {
  Matrix m(3, std::vector<double>(3));
  for (int64_t k = 0; k < 9; ++k) {
    m[k / 3][k % 3] = w[((16 + output) * kInputs + 16 + input) * 9 + k];
  }
  return m;
}

TEST(WinogradTransforms, OfWeightsAndRotatedWeights) {
  const std::vector<float> w = RandomFloats(48 * kInputs * 9);
  Taps straight(16), turned(32, 16);
  TransformWeights(w.data(), kRange, straight.matrices);
  TransformTurnedWeights(w.data(), kRange, turned.matrices);
  for (int64_t output : {0, 15, 16, 31}) {
    for (int64_t input : {0, 9, 15}) {
      const Matrix window = WindowAt(w, output, input);
      Matrix half_circle(3, std::vector<double>(3));
      for (int k = 0; k < 9; ++k) {
        half_circle[k / 3][k % 3] = window[2 - k / 3][2 - k % 3];
      }
      const Matrix u = Spread(kG, window), v = Spread(kG, half_circle);
      for (int64_t tap = 0; tap < kTaps; ++tap) {
        ExpectNear(straight.At(tap, input, output), u[tap / 6][tap % 6], 1);
        ExpectNear(turned.At(tap, output, input), v[tap / 6][tap % 6], 1);
      }
    }
  }
}

TEST(WinogradTransforms, ToWeightGradient) {
  Taps taps(16);
  taps.floats = RandomFloats(taps.floats.size());
  taps.matrices.at = taps.floats.data();
  std::vector<float> dw(48 * kInputs * 9, 7);
  TransformToWeightGradient(taps.matrices, kRange, dw.data());
  for (int64_t output : {0, 15, 16, 31}) {
    for (int64_t input : {0, 9, 15}) {
      Matrix met(6, std::vector<double>(6));
      for (int64_t tap = 0; tap < kTaps; ++tap) {
        met[tap / 6][tap % 6] = taps.At(tap, input, output);
      }
      const Matrix expected = Spread(Transposed(kG), met);
      const Matrix found = WindowAt(dw, output, input);
      for (int k = 0; k < 9; ++k) {
        ExpectNear(found[k / 3][k % 3], expected[k / 3][k % 3], 1);
      }
    }
  }
  // Weights outside the range do not change.
  for (int64_t i : {0l, 15 * 9 + 8l, 15 * kInputs * 9 + 31 * 9}) {
    EXPECT_EQ(dw[i], 7) << i;
  }
}

// The bits of results, however the work is split.
struct Results {
  std::vector<float> y, dx, dw;
};

Results ResultsOf(const TiledConvolution& conv, int threads) {
  const TiledImages& s = conv.source;
  const TiledImages& r = conv.result;
  const std::vector<float> x =
      RandomFloats(s.images * s.channels * s.height * s.width, 1);
  const std::vector<float> w = RandomFloats(s.channels * r.channels * 9, 2);
  Results results;
  results.y.resize(r.images * r.channels * r.height * r.width);
  results.dw.resize(w.size());
  std::vector<float> workspace(std::max(ConvolutionFloats(conv, threads),
                                        WeightGradientFloats(conv, threads)));
  Convolve(conv,
           {x.data(), w.data(), nullptr, results.y.data(), workspace.data()},
           threads);
  TiledConvolution back =
      TileConvolution(r.images, r.channels, r.height, r.width, s.channels,
                      s.height, s.width, 2 - s.top, 2 - s.left);
  back.turned = true;
  results.dx.resize(x.size());
  workspace.resize(
      std::max<size_t>(workspace.size(), ConvolutionFloats(back, threads)));
  Convolve(back,
           {results.y.data(), w.data(), nullptr, results.dx.data(),
            workspace.data()},
           threads);
  DifferentiateByWeights(
      conv, {x.data(), results.y.data(), results.dw.data(), workspace.data()},
      threads);
  return results;
}

void ExpectSameBits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

TEST(Winograd, BitsDoNotDependOnTheThreads) {
  for (const TiledConvolution& conv :
       {TileConvolution(3, 80, 17, 22, 144, 17, 22, 1, 1),
        TileConvolution(1, 16, 64, 61, 16, 64, 61, 1, 1),
        TileConvolution(1, 192, 4, 4, 16, 4, 4, 1, 1)}) {
    const Results one = ResultsOf(conv, 1);
    for (int threads : {2, 3, 7}) {
      const Results more = ResultsOf(conv, threads);
      ExpectSameBits(more.y, one.y);
      ExpectSameBits(more.dx, one.dx);
      ExpectSameBits(more.dw, one.dw);
    }
  }
}

// Only on whether it has fused multiply-add.
TEST(Winograd, BitsDoNotDependOnTheProcessor) {
  const Results results =
      ResultsOf(TileConvolution(2, 80, 9, 10, 32, 9, 10, 1, 1), 1);
  EXPECT_EQ(ChecksumOf({results.y, results.dx, results.dw}),
            HasFusedProducts() ? 11490717593966013375u : 1566642015231852635u);
}

// A gradient sums 64 tiles and then the next, however many are transformed
// together: more threads take longer stretches.
TEST(Winograd, SumsOfManyStretchesDoNotDependOnTheirLength) {
  const TiledConvolution conv =
      TileConvolution(4, 128, 52, 52, 144, 52, 52, 1, 1);
  const Results one = ResultsOf(conv, 1), five = ResultsOf(conv, 5);
  ExpectSameBits(one.dw, five.dw);
  ExpectSameBits(one.y, five.y);
}

// Exactly what docs/internals/numerics.md excepts: a NaN at (4, 5) of an image
// of 16x16. Source tiles of four and their border begin at -1, 3, 7: the second
// is all NaN, and so is the last line of the one above it, whose windows
// contain it.
TEST(Winograd, ANanReachesItsTilesAlone) {
  const TiledConvolution conv =
      TileConvolution(1, 16, 16, 16, 16, 16, 16, 1, 1);
  std::vector<float> x = RandomFloats(16 * 256, 1);
  const std::vector<float> w = RandomFloats(16 * 16 * 9, 2);
  const int64_t channel = 3;
  x[(4 * 16 + 5) * 16 + channel] = std::nanf("");
  std::vector<float> y(x.size()), dw(w.size());
  std::vector<float> workspace(
      std::max(ConvolutionFloats(conv, 1), WeightGradientFloats(conv, 1)));
  Convolve(conv, {x.data(), w.data(), nullptr, y.data(), workspace.data()}, 1);
  for (int64_t i = 0; i < 256; ++i) {
    for (int64_t c = 0; c < 16; ++c) {
      EXPECT_EQ(std::isnan(y[i * 16 + c]),
                i / 16 >= 3 && i / 16 < 8 && i % 16 / 4 == 1)
          << "at " << i / 16 << ", " << i % 16;
    }
  }
  const std::vector<float> dy = RandomFloats(x.size(), 3);
  DifferentiateByWeights(conv,
                         {x.data(), dy.data(), dw.data(), workspace.data()}, 1);
  for (int64_t i = 0; i < 16 * 16 * 9; ++i) {
    EXPECT_EQ(std::isnan(dw[i]), i / 9 % 16 == channel) << i;
  }
}

// A batch in two halves: each image's results are independent.
TEST(Winograd, ImagesDoNotDependOnTheBatch) {
  const auto of = [](int64_t images) {
    return ResultsOf(TileConvolution(images, 32, 26, 26, 32, 26, 26, 1, 1), 2);
  };
  const Results both = of(6), half = of(3);
  ExpectSameBits({both.y.begin(), both.y.begin() + half.y.size()}, half.y);
  ExpectSameBits({both.dx.begin(), both.dx.begin() + half.dx.size()}, half.dx);
}

// The time estimate, for a step of few images.
TEST(Winograd, WeightsAreTransformedOnceFor128TilesOf256Channels) {
  const auto transforms = [](int64_t images) {
    return ConvolutionWork(
               TileConvolution(images, 256, 16, 16, 256, 16, 16, 1, 1), 1)
        .weight_transforms;
  };
  EXPECT_EQ(transforms(8), 1);
  EXPECT_EQ(transforms(16), 2);
  EXPECT_EQ(transforms(17), 3);
}

// Threads stay idle if a group would have fewer than 16 tiles.
TEST(Winograd, SeventeenTilesAreOneGroup) {
  const TiledConvolution conv =
      TileConvolution(1, 128, 4, 68, 128, 4, 68, 1, 1);
  ASSERT_EQ(conv.source.tiles(), 17);
  EXPECT_EQ(ConvolutionWork(conv, 4).weight_transforms, 1);
}

// A convolution of 48 channels; the first 64 of its results always have the
// same weights.
std::vector<float> First64Results(int64_t outputs, bool turned) {
  constexpr int64_t kInputChannels = 48, kSide = 21;
  TiledConvolution conv = TileConvolution(1, kInputChannels, kSide, kSide,
                                          outputs, kSide, kSide, 1, 1);
  conv.turned = turned;
  EXPECT_EQ(IsNarrow(conv), outputs <= 64);
  const std::vector<float> x = RandomFloats(kInputChannels * kSide * kSide, 1);
  std::vector<float> w(outputs * kInputChannels * 9);
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t i = 0; i < kInputChannels; ++i) {
      const std::vector<float> window = RandomFloats(9, o * kInputChannels + i);
      std::copy(
          window.begin(), window.end(),
          w.begin() + (turned ? i * outputs + o : o * kInputChannels + i) * 9);
    }
  }
  std::vector<float> workspace(ConvolutionFloats(conv, 2));
  std::vector<float> y(outputs * kSide * kSide);
  Convolve(conv, {x.data(), w.data(), nullptr, y.data(), workspace.data()}, 2);
  y.resize(64 * kSide * kSide);
  return y;
}

// A convolution with one chunk of channels on either side runs other code, with
// the bits that the same channels have among more.
TEST(Winograd, ANarrowConvolutionHasTheBitsOfAWideOne) {
  for (bool turned : {false, true}) {
    ExpectSameBits(First64Results(64, turned), First64Results(80, turned));
  }
}

// Aligned results of 4 MiB bypass the caches: with the same bits, and no write
// elsewhere.
TEST(Winograd, ResultsPastTheCachesAreThoseOfOthers) {
  constexpr int64_t kSide = 130, kFloats = 64 * kSide * kSide;
  const TiledConvolution conv =
      TileConvolution(1, 64, kSide, kSide, 64, kSide, kSide, 1, 1);
  const std::vector<float> x = RandomFloats(kFloats, 1);
  const std::vector<float> w = RandomFloats(64 * 64 * 9, 2);
  std::vector<float> workspace(ConvolutionFloats(conv, 2));
  const auto convolve = [&](size_t alignment) {
    std::vector<float> room(kFloats + 48, 0.5f);
    float* y = room.data() + 16;
    while (reinterpret_cast<uintptr_t>(y) % 64 != alignment) ++y;
    Convolve(conv, {x.data(), w.data(), nullptr, y, workspace.data()}, 2);
    EXPECT_EQ(y[-1], 0.5f);
    EXPECT_EQ(y[kFloats], 0.5f);
    return std::vector<float>(y, y + kFloats);
  };
  ExpectSameBits(convolve(0), convolve(16));
}

}  // namespace
}  // namespace partita
