// What is impossible once a graph is partitioned.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_VERIFY_NO_CROSS_DEVICE_EDGES_H_
#define PARTITA_PLACEMENT_PARTITION_VERIFY_NO_CROSS_DEVICE_EDGES_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Every node is on a device, and every node but a copy finds each operand on
// each of its devices, in the sharding that its placement says.
// FailedPrecondition lists the first 20 edges that cross.
absl::Status VerifyNoCrossDeviceEdges(const Graph& graph);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_VERIFY_NO_CROSS_DEVICE_EDGES_H_
