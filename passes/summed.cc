// Dimensions count from the last, as in broadcasting.
// SPDX-License-Identifier: Apache-2.0

#include "passes/summed.h"

namespace partita {

bool IsOneForEachSum(const TensorType& factor, const TensorType& sum) {
  if (factor.rank() > sum.rank()) return false;
  const int missing = sum.rank() - factor.rank();
  for (int i = 0; i < factor.rank(); ++i) {
    if (factor.dims[i] != 1 && factor.dims[i] != sum.dims[i + missing]) {
      return false;
    }
  }
  return true;
}

}  // namespace partita
