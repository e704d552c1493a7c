// A query for passes over sums of products.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_SUMMED_H_
#define PARTITA_PASSES_SUMMED_H_

#include "graph/tensor_type.h"

namespace partita {

// True if the factor broadcasts to the sum's extents, where summed dimensions
// have extent 1: the factor is then constant for all elements of each sum.
bool IsOneForEachSum(const TensorType& factor, const TensorType& sum);

}  // namespace partita

#endif  // PARTITA_PASSES_SUMMED_H_
