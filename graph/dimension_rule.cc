// Queries of dimension rules.
// SPDX-License-Identifier: Apache-2.0

#include "graph/dimension_rule.h"

namespace partita {

int DimensionOf(const DimensionRule::Dims& dims, int factor) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].empty() && dims[i].front() == factor) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace partita
