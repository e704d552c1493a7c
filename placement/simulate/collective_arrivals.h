// Counts the ranks of collectives that have arrived.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_COLLECTIVE_ARRIVALS_H_
#define PARTITA_PLACEMENT_SIMULATE_COLLECTIVE_ARRIVALS_H_

#include <vector>

#include "absl/types/span.h"
#include "graph/id_vector.h"
#include "placement/simulate/command_cost.h"
#include "runtime/plan/plan.h"

namespace partita {

class CollectiveArrivals {
 public:
  CollectiveArrivals(IdSpan<CommandId, Command> commands,
                     const IdVector<CommandId, CommandCost>& costs, int steps);

  // The commands of all ranks, if `rank` is the last one to arrive in this
  // step; else nothing. Needs: a command of a collective.
  absl::Span<const CommandId> Arrive(int step, CommandId rank);

 private:
  IdVector<CommandId, CollectiveId> collective_;  // invalid: of none
  IdVector<CollectiveId, std::vector<CommandId>> ranks_;
  std::vector<int> missing_;  // step * collectives + collective
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_COLLECTIVE_ARRIVALS_H_
