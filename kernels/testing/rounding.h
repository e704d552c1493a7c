// How far results of floating-point sums may be from exact ones.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_TESTING_ROUNDING_H_
#define PARTITA_KERNELS_TESTING_ROUNDING_H_

#include "graph/dtype.h"
#include "graph/op_view.h"

namespace partita {

// The distance from 1 to the next larger number; 0 for types without fractions.
double UnitInTheLastPlace(DType dtype);

// Operations that each element of the node's first result takes.
double FlopsPerResult(const OpView& node);

}  // namespace partita

#endif  // PARTITA_KERNELS_TESTING_ROUNDING_H_
