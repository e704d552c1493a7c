// The last nodes of a placed graph: copies of new values into variables.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_COPY_UPDATES_H_
#define PARTITA_PLACEMENT_PARTITION_COPY_UPDATES_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "placement/partition/connect.h"
#include "placement/partition/place_sources.h"

namespace partita {

// Makes the value of every update the result of a copy to the variable's home.
// All values are read before the first variable is written, so two variables
// may swap their values.
absl::Status CopyUpdates(Graph& graph, const Sources& sources,
                         Connector& connector);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_COPY_UPDATES_H_
