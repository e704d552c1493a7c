// The canonical form of a range's bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan.h"

namespace partita {

Range Range::Canonical() const {
  if (empty()) return {};
  if (count == 1 || stride == block) return {.offset = offset, .block = size()};
  return *this;
}

bool operator==(const Range& a, const Range& b) {
  const Range x = a.Canonical();
  const Range y = b.Canonical();
  return x.offset == y.offset && x.block == y.block && x.count == y.count &&
         x.stride == y.stride;
}

}  // namespace partita
