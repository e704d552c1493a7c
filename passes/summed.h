// What passes over sums of products ask about them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_SUMMED_H_
#define PARTITA_PASSES_SUMMED_H_

#include "graph/tensor_type.h"

namespace partita {

// The factor broadcasts to the sum's extents, in which what is summed up has 1:
// one value for all that each result sums up.
bool IsOneForEachSum(const TensorType& factor, const TensorType& sum);

}  // namespace partita

#endif  // PARTITA_PASSES_SUMMED_H_
