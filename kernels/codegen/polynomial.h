// Polynomials by Horner's rule.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_POLYNOMIAL_H_
#define PARTITA_KERNELS_CODEGEN_POLYNOMIAL_H_

#include <initializer_list>

#include "kernels/codegen/program_builder.h"

namespace partita {

// Highest power first.
inline Register Polynomial(Register x,
                           std::initializer_list<double> coefficients) {
  auto next = coefficients.begin();
  Register sum = Like(x, *next++);
  for (; next != coefficients.end(); ++next) sum = Fma(sum, x, *next);
  return sum;
}

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_POLYNOMIAL_H_
