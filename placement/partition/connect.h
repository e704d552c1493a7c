// Inserts copy nodes that bring values to the devices that read them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_CONNECT_H_
#define PARTITA_PLACEMENT_PARTITION_CONNECT_H_

#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/id_vector.h"
#include "placement/machine/link_table.h"
#include "placement/machine/machine.h"
#include "placement/partition/sharded_placement.h"

namespace partita {

// The suffix of the name of a value's copy: "gpu1", "all" or "split0".
std::string PlaceSuffix(const ShardedPlacement& place);

// Inserts copies, one for each value and placement. Needs: the producers of all
// requested values are placed.
class Connector {
 public:
  Connector(Graph& graph, const Machine& machine);

  // The placement of the value now.
  ShardedPlacement PlaceOf(ValueId value) const;
  // The value itself, or its copy at `need`. Errors name `reader`. Partial sums
  // are first added up on all their devices, then copied on.
  absl::StatusOr<ValueId> Provide(ValueId value, const ShardedPlacement& need,
                                  const std::string& reader);
  // The whole value with `device` as its first device: the caller reads a
  // result from the first replica. If another replica is on `device`, a copy
  // there is inserted; it moves no bytes, as lowering makes it a view.
  absl::StatusOr<ValueId> ProvideFirstOn(const std::string& device,
                                         ValueId value,
                                         const std::string& reader);
  // A new copy at `place`, as the last node.
  absl::StatusOr<ValueId> CopyAtEnd(ValueId value,
                                    const ShardedPlacement& place,
                                    const std::string& name,
                                    const std::string& reader);
  // `name`, with a number appended if another value has this name.
  std::string FreshName(const std::string& name);
  // The node to insert before, so that the new node follows `node` (or is the
  // first, if `node` is invalid): the next node in the order that the graph had
  // at construction; for a copy, the node that followed its source. Invalid:
  // insert at the end.
  NodeId After(NodeId node) const;

 private:
  absl::Status CheckLinks(ValueId value, const ShardedPlacement& have,
                          const ShardedPlacement& need,
                          const std::string& reader) const;
  absl::StatusOr<ValueId> CopyOnce(ValueId value, const ShardedPlacement& need,
                                   const std::string& reader);
  absl::StatusOr<ValueId> Copy(ValueId value, const ShardedPlacement& place,
                               const std::string& name, NodeId before,
                               const std::string& reader);

  Graph& graph_;
  const LinkTable links_;
  IdVector<NodeId, NodeId> next_;
  NodeId first_;
  std::map<std::pair<ValueId, ShardedPlacement>, ValueId> copies_;
  absl::flat_hash_set<std::string> names_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_CONNECT_H_
