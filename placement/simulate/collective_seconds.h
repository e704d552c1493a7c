// The time of a collective node of a placed graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_COLLECTIVE_SECONDS_H_
#define PARTITA_PLACEMENT_SIMULATE_COLLECTIVE_SECONDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/op_view.h"
#include "placement/machine/link_table.h"

namespace partita {

// Seconds of a collective that `node` is, from the arrival of its last rank
// (placement/cost/collective_cost.h). Each of `ranks`, by device name, supplies
// `bytes`. InvalidArgument if the node is no collective. FailedPrecondition
// without a link.
absl::StatusOr<double> SecondsOfCollective(
    const OpView& node, double bytes, const std::vector<std::string>& ranks,
    const LinkTable& links);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_COLLECTIVE_SECONDS_H_
