// Finds the ranks of each collective.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/collective_arrivals.h"

#include <cstddef>

namespace partita {

// The commands of a collective are adjacent in launch order.
CollectiveArrivals::CollectiveArrivals(
    IdSpan<CommandId, Command> commands,
    const IdVector<CommandId, CommandCost>& costs, int steps)
    : collective_(commands.size()) {
  CommandId previous;
  for (CommandId c : commands.ids()) {
    if (costs[c].on == CommandCost::On::kCollective) {
      const bool goes_on =
          previous.valid() && collective_[previous].valid() &&
          commands[previous].instance.node == commands[c].instance.node &&
          commands[previous].instance.micro_batch ==
              commands[c].instance.micro_batch;
      collective_[c] = goes_on ? collective_[previous] : ranks_.Add({});
      ranks_[collective_[c]].push_back(c);
    }
    previous = c;
  }
  for (int step = 0; step < steps; ++step) {
    for (const std::vector<CommandId>& ranks : ranks_) {
      missing_.push_back(static_cast<int>(ranks.size()));
    }
  }
}

absl::Span<const CommandId> CollectiveArrivals::Arrive(int step,
                                                       CommandId rank) {
  const CollectiveId collective = collective_[rank];
  int& missing =
      missing_[static_cast<size_t>(step) * ranks_.size() + collective.index];
  if (--missing > 0) return {};
  return ranks_[collective];
}

}  // namespace partita
