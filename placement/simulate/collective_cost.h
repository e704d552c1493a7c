// How long a collective takes, once all its members have come.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_COLLECTIVE_COST_H_
#define PARTITA_PLACEMENT_SIMULATE_COLLECTIVE_COST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "placement/machine/machine.h"
#include "runtime/plan/collective.h"

namespace partita {

// Seconds over `members`, named in ring order, of which each supplies `bytes`:
// the better of
//   * a ring, each member sending to the next at the same time (Patarasuk and
//     Yuan 2009): all_reduce does 2 (d - 1) steps of bytes / d, reduce_scatter
//     d - 1 of them, all_gather d - 1 steps of bytes, all_to_all d - 1 of
//     bytes / d; hops that share a link or a bus share its bandwidth;
//   * for all_reduce, a binomial tree up and down (Thakur et al. 2005):
//     2 ceil(log2 d) steps of all bytes, over the slowest link.
// Other transfers of the same time are not counted. FailedPrecondition where
// two neighbours of the ring have no link.
absl::StatusOr<double> CollectiveSeconds(
    CollectiveKind kind, double bytes, const std::vector<std::string>& members,
    const Machine& machine);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_COLLECTIVE_COST_H_
