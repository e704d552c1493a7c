// Differences between outputs and their expected values.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_COMPARE_H_
#define PARTITA_TOOLS_PARTITA_COMPARE_H_

#include <cstdint>
#include <string>

#include "graph/host_tensor.h"

namespace partita {

struct Difference {
  double absolute = 0;  // largest |a - b|
  double relative = 0;  // largest |a - b| / |b|, b not 0
  int64_t worst = -1;   // row-major index of the largest |a - b|
  bool within = true;   // |a - b| <= atol + rtol * |b| everywhere
  bool same_bits = true;
  std::string problem;  // types that differ; then nothing is compared
};

// Like numpy.allclose with equal_nan. Row-major tensors.
Difference Compare(const HostTensor& actual, const HostTensor& expected,
                   double rtol, double atol);

// The largest |value| of finite elements.
double LargestMagnitude(const HostTensor& tensor);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_COMPARE_H_
