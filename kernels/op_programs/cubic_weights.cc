// Two cubics.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/cubic_weights.h"

namespace partita {
namespace {

// Of a distance up to 1, and of one from 1 to 2.
Register NearWeight(Register t, double a) {
  return (t * (a + 2) - (a + 3)) * t * t + 1.0;
}
Register FarWeight(Register t, double a) {
  return ((t * a - 5 * a) * t + 8 * a) * t - 4 * a;
}

}  // namespace

std::vector<Register> CubicWeightsOf(Register ratio, double a) {
  const Register rest = 1.0 - ratio;
  return {FarWeight(ratio + 1.0, a), NearWeight(ratio, a), NearWeight(rest, a),
          FarWeight(rest + 1.0, a)};
}

}  // namespace partita
