// Sums series around 1 and 0.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/portable_exp.h"

#include <cmath>

namespace partita {
namespace {

constexpr double kLn2 = 0.6931471805599453;
constexpr double kSqrtHalf = 0.7071067811865476;

}  // namespace

double PortableLog(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kSqrtHalf) {
    mantissa *= 2;
    --exponent;
  }
  // log m = 2 artanh t = 2 (t + t^3 / 3 + t^5 / 5 + ...), where |t| < 0.172.
  const double t = (mantissa - 1) / (mantissa + 1);
  double sum = 0;
  for (int k = 23; k > 0; k -= 2) sum = sum * (t * t) + 1.0 / k;
  return exponent * kLn2 + 2 * t * sum;
}

double PortableExp(double x) {
  const double whole = std::floor(x / kLn2 + 0.5);
  const double rest = x - whole * kLn2;  // within 0.347
  double sum = 1;
  for (int k = 14; k > 0; --k) sum = 1 + rest * sum / k;
  return std::ldexp(sum, static_cast<int>(whole));
}

}  // namespace partita
