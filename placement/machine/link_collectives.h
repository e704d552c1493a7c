// Measured figures of collectives between the two devices of a link.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_LINK_COLLECTIVES_H_
#define PARTITA_PLACEMENT_MACHINE_LINK_COLLECTIVES_H_

#include <optional>

namespace partita {

// Seconds from the arrival of the last rank: `latency`, once, and the bytes
// that a rank sends in a ring over `bandwidth`. Two ranks that supply n bytes
// each send n in an all_gather and in an all_reduce, and n / 2 in a
// reduce_scatter or an all_to_all.
struct CollectiveFigures {
  friend bool operator==(const CollectiveFigures&,
                         const CollectiveFigures&) = default;

  double bandwidth = 0;  // bytes per second
  double latency = 0;    // seconds, of all waits of the ranks for each other
};

// By CollectiveDef::reduces. Prices are those of the link's copies where they
// are missing (placement/cost/collective_cost.h).
struct LinkCollectives {
  friend bool operator==(const LinkCollectives&,
                         const LinkCollectives&) = default;

  std::optional<CollectiveFigures> gather;  // only moves bytes
  std::optional<CollectiveFigures> reduce;  // makes new values
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_LINK_COLLECTIVES_H_
