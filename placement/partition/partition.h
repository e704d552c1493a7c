// Writes a placement on a graph and inserts the copies that it needs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_PARTITION_H_
#define PARTITA_PLACEMENT_PARTITION_PARTITION_H_

#include <string>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "placement/machine/machine.h"
#include "placement/partition/variable_homes.h"
#include "placement/planner/planner.h"

namespace partita {

struct PartitionOptions {
  // Where every output is brought; empty: where it lies.
  std::string output_device;
  // Of variables that functions of the module update, this one or others.
  VariableHomes homes;
};

// Makes a placed graph of an optimised one:
//
//   before                          after, %h on gpu:0 and %y on gpu:1
//   %w = constant f32[4] ...        %w       = constant ...  on gpu:1
//   %h = relu %x                    %h       = relu %x       on gpu:0
//   %y = add %h, %w                 %h.gpu:1 = copy %h       on gpu:1
//                                   %y       = add %h.gpu:1, %w  on gpu:1
//
// * Every node carries the devices of `placement`. A node whose result is split
//   over several is cut along one factor of its dimension rule: operands that
//   carry the factor are split too, the others are replicated.
// * Constants, and variables that no step updates, exist once on each device
//   that reads them. A variable that is updated, by this function or by one
//   that `homes` knows of, has one home; elsewhere it is copied to. Inputs are
//   placed on every device that reads them.
// * A value that is needed elsewhere, or in another sharding, is copied once
//   for each such place, right after it is made. A copy of partial sums joins
//   them: lowering makes a collective of it.
// * An update's value is the result of a copy on the variable's home.
// * Outputs are whole: one whose parts lie on several devices is gathered on
//   the first of them. With `output_device`, every output is brought there.
//
// InvalidArgument names the node, value and devices where the machine has no
// link for a copy, or where a node cannot be cut as asked.
absl::Status Partition(Graph& graph, const PlacementTable& placement,
                       const Machine& machine,
                       const PartitionOptions& options = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_PARTITION_H_
