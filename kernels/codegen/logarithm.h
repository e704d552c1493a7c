// The natural logarithm of any number, in its own type.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOGARITHM_H_
#define PARTITA_KERNELS_CODEGEN_LOGARITHM_H_

#include <initializer_list>
#include <limits>

#include "kernels/codegen/polynomial.h"

namespace partita {

// ln 2 as a sum. Products of the first with small integers are exact.
struct Ln2 {
  double high;
  double low;
};

// log(x), where x = 2^e m with m in [sqrt(1/2), sqrt(2)) if it is positive and
// finite. log(1 + f) = 2 atanh(f / (2 + f)), with the first terms of f
// separate; `series` are the coefficients of the others in the square of the
// quotient, highest power first.
inline Register Logarithm(Register x, Register e, Register m, Ln2 ln2,
                          std::initializer_list<double> series) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Register f = m - 1;
  const Register s = f / (f + 2);
  const Register z = s * s;
  const Register rest = z * Polynomial(z, series);
  const Register half_square = f * f * 0.5;
  const Register low = Fma(s, half_square + rest, e * ln2.low);
  const Register sum = Fma(e, ln2.high, f - (half_square - low));
  const Register positive = Select(Equal(x, Like(x, kInfinity)), x, sum);
  const Register nan = Like(x, std::numeric_limits<double>::quiet_NaN());
  const Register others = Select(Equal(x, Like(x, 0)), Like(x, -kInfinity),
                                 Select(IsNan(x), x, nan));
  return Select(Like(x, 0) < x, positive, others);
}

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOGARITHM_H_
