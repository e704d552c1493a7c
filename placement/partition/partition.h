// Writes a placement on a graph and inserts copies between devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_PARTITION_H_
#define PARTITA_PLACEMENT_PARTITION_PARTITION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/placement.h"
#include "placement/machine/machine.h"
#include "placement/partition/variable_homes.h"

namespace partita {

struct PartitionOptions {
  // The device that receives every output. Empty: outputs stay where they are.
  std::string output_device;
  // Homes of the variables that any function of the module updates.
  VariableHomes homes;
};

// Turns an optimised graph into a placed one:
//
//   before                          after, %h on gpu:0 and %y on gpu:1
//   %w = constant f32[4] ...        %w       = constant ...  on gpu:1
//   %h = relu %x                    %h       = relu %x       on gpu:0
//   %y = add %h, %w                 %h.gpu:1 = copy %h       on gpu:1
//                                   %y       = add %h.gpu:1, %w  on gpu:1
//
// * Every node has the devices of `placements`, by node id. Constants may have
//   none: they are placed where they are read. A node whose result is split
//   over several devices is sharded along one factor of its dimension rule:
//   operands with this factor are split too, the others are replicated.
// * Each device that reads a constant, or a variable that is never updated, has
//   its own copy. A variable that this function updates, or that is in `homes`,
//   is stored at one home; other readers get a copy node. Inputs are placed on
//   every device that reads them.
// * A value that is needed on other devices, or in another sharding, is copied
//   once for each such placement, right after the node that makes it. A copy of
//   partial sums adds them up: lowering makes a collective of it.
// * The value of an update is the result of a copy to the variable's home.
// * Outputs are whole: a sharded output is gathered on its first device. With
//   `output_device`, every output is copied there.
//
// InvalidArgument names the node, value and devices if the machine has no link
// for a copy, or if a node cannot be sharded as asked.
absl::Status Partition(Graph& graph, absl::Span<const Placement> placements,
                       const Machine& machine,
                       const PartitionOptions& options = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_PARTITION_H_
