// Weights of a cubic blend.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_CUBIC_WEIGHTS_H_
#define PARTITA_KERNELS_OP_PROGRAMS_CUBIC_WEIGHTS_H_

#include <vector>

#include "kernels/codegen/program_builder.h"

namespace partita {

// Keys' cubic convolution (1981) with parameter a: the weights of the elements
// at -1, 0, 1 and 2 from the floor of a position; `ratio` is its fraction.
std::vector<Register> CubicWeightsOf(Register ratio, double a);

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_CUBIC_WEIGHTS_H_
