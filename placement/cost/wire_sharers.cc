// Counts by wire and direction.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/wire_sharers.h"

namespace partita {

WireSharers::Wire WireSharers::WireOf(const Link& link) {
  return {link.bus, link.bus.empty() ? &link : nullptr};
}

void WireSharers::Change(const Hop& hop, int by) {
  Counts& counts = counts_[WireOf(*hop.link)];
  (hop.link->duplex ? counts.one_way[hop.forward] : counts.either_way) += by;
}

int WireSharers::With(const Hop& hop) const {
  const Counts& counts = counts_.at(WireOf(*hop.link));
  return counts.either_way + (hop.link->duplex
                                  ? counts.one_way[hop.forward]
                                  : counts.one_way[0] + counts.one_way[1]);
}

}  // namespace partita
