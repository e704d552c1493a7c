// A counter-based generator, and tensors of random numbers.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/random_tensor.h"

#include <cmath>
#include <type_traits>
#include <utility>

namespace partita {
namespace {

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
uint64_t Mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t RandomWord(uint64_t seed, uint64_t counter) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  return Mixed(Mixed(seed * kGolden + kGolden) + counter * kGolden);
}

double RandomUnit(uint64_t seed, uint64_t counter) {
  return static_cast<double>(RandomWord(seed, counter) >> 11) * 0x1p-53;
}

HostTensor RandomTensor(const TensorType& type, uint64_t seed, double low,
                        double high) {
  HostTensor tensor(type.RowMajor());
  VisitDType(type.dtype, [&]<typename T>(TypeTag<T>) {
    absl::Span<T> elements = tensor.data<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        elements[i] = RandomWord(seed, i) & 1;
      } else {
        const double x = low + (high - low) * RandomUnit(seed, i);
        elements[i] = static_cast<T>(std::is_integral_v<T> ? std::floor(x) : x);
      }
    }
  });
  return tensor;
}

HostTensor HeWeights(Shape dims, int64_t fan_in, uint64_t seed) {
  // Uniform in [-a, a) has variance a * a / 3.
  const double a = std::sqrt(6.0 / static_cast<double>(fan_in));
  return RandomTensor({DType::kF32, std::move(dims), {}}, seed, -a, a);
}

}  // namespace partita
