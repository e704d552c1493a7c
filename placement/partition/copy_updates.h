// The last nodes of a placed graph: what variables become.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_COPY_UPDATES_H_
#define PARTITA_PLACEMENT_PARTITION_COPY_UPDATES_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "placement/partition/connect.h"
#include "placement/partition/place_sources.h"

namespace partita {

// Makes every update's value the result of a copy on the variable's home. First
// everything is read, then everything is written: two variables may exchange
// their values.
absl::Status CopyUpdates(Graph& graph, const Sources& sources,
                         Connector& connector);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_COPY_UPDATES_H_
