// Equality of shardings, and names of reductions.
// SPDX-License-Identifier: Apache-2.0

#include "graph/placement.h"

namespace partita {

bool operator==(const Sharding& a, const Sharding& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Sharding::Kind::kReplicated:
      return true;
    case Sharding::Kind::kSplit:
      return a.dim == b.dim && a.unit == b.unit;
    case Sharding::Kind::kPartial:
      return a.reduction == b.reduction;
  }
  return false;
}

absl::string_view ReductionName(Reduction reduction) {
  constexpr absl::string_view kNames[] = {"sum", "max", "min", "and", "or"};
  return kNames[static_cast<int>(reduction)];
}

}  // namespace partita
