// The machine of a plan's predictions, and the seconds of its nodes there.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PLAN_PRICES_H_
#define PARTITA_PARTITA_PLAN_PRICES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

struct PlanMachine {
  Machine machine;
  // The plan was made for it, and its notes have the prices.
  bool is_own = false;
};

// The machine in the plan's notes; nothing if it has none. An error if the
// notes are damaged.
absl::StatusOr<std::optional<PlanMachine>> OwnMachine(const Plan& plan);

// FailedPrecondition for the first device of the plan that the machine lacks.
absl::Status CheckHasDevices(const Plan& plan, const Machine& machine);

// The notes of the entry; null if they are of another machine, or missing.
const EntryNotes* NotesOf(const Plan& plan, size_t entry,
                          const PlanMachine& machine);

// By node id of the entry's graph: the seconds in the plan's notes, which it
// must have; 0 for nodes without a note. InvalidArgument for a node that does
// not exist, and for seconds that are not finite or less than 0: no checker has
// seen the notes of an untrusted plan.
absl::StatusOr<std::vector<double>> NotedSeconds(const Plan& plan,
                                                 size_t entry);

// By node id of the entry's graph: predicted seconds of the slowest rank. A
// plan has no profile in it: for its own machine, its notes have the prices
// that it was made with. Errors as PlacedNodeSeconds and NotedSeconds.
absl::StatusOr<std::vector<double>> NodeSecondsOf(const Plan& plan,
                                                  size_t entry,
                                                  const PlanMachine& machine);

}  // namespace partita

#endif  // PARTITA_PARTITA_PLAN_PRICES_H_
