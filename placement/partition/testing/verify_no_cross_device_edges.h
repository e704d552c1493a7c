// Checks that no edge of a placed graph crosses devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_TESTING_VERIFY_NO_CROSS_DEVICE_EDGES_H_
#define PARTITA_PLACEMENT_PARTITION_TESTING_VERIFY_NO_CROSS_DEVICE_EDGES_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Every node has a device. Every operand of a node, except of a copy, is on
// each of the node's devices, in the sharding of the node's placement.
// FailedPrecondition lists the first 20 edges that cross.
absl::Status VerifyNoCrossDeviceEdges(const Graph& graph);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_TESTING_VERIFY_NO_CROSS_DEVICE_EDGES_H_
