// Names of reductions.
// SPDX-License-Identifier: Apache-2.0

#include "graph/placement.h"

namespace partita {

absl::string_view ReductionName(Reduction reduction) {
  constexpr absl::string_view kNames[] = {"sum", "max", "min", "and", "or"};
  return kNames[static_cast<int>(reduction)];
}

}  // namespace partita
