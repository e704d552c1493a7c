// Splits of nodes over identical devices, as seeds and moves of a search.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_SPLIT_MOVES_H_
#define PARTITA_PLACEMENT_PLANNER_SPLIT_MOVES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "placement/planner/placement_draft.h"

namespace partita {

// The first largest set of identical, mutually linked devices, ascending.
std::vector<MachineDeviceId> EqualDevices(const CostModel& costs);

// The dimensions of results that are tried; -1 is the last.
inline constexpr int kSplitDimensions[] = {0, 1, -1};

// Every node that is not pinned, split along one dimension of its results where
// its rule allows, else whole on each of the devices. Nothing if the devices
// lack a kernel.
std::optional<Draft> SplitAll(const PlanRequest& request,
                              const std::vector<MachineDeviceId>& devices,
                              int dim);

// The draft with one set of equal nodes (of one op, with equal types) split
// along another dimension over `devices`, or whole on each of them; the sets
// with most seconds first, at most `most` drafts.
std::vector<Draft> SplitMoves(const PlanRequest& request,
                              const std::vector<MachineDeviceId>& devices,
                              const Draft& draft, size_t most);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_SPLIT_MOVES_H_
