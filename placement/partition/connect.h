// Brings values to where they are needed, by copy nodes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_CONNECT_H_
#define PARTITA_PLACEMENT_PARTITION_CONNECT_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "placement/machine/link_table.h"
#include "placement/machine/machine.h"
#include "placement/partition/shard.h"

namespace partita {

// What distinguishes the name of a value's copy: "gpu1", "all" or "split0".
std::string PlaceSuffix(const Whereabouts& place);

// Makes each copy once for a value and a place. Needs: every producer of a
// value that is asked for is placed.
class Connector {
 public:
  Connector(Graph& graph, const Machine& machine);

  // Where the value lies now.
  Whereabouts PlaceOf(ValueId value) const;
  // The value itself, or its copy at `need`. `reader` is named in errors.
  // Partial sums are joined on all their devices, and go on from there.
  absl::StatusOr<ValueId> Provide(ValueId value, const Whereabouts& need,
                                  const std::string& reader);
  // The whole value, with `device` as the first of its places: what reads a
  // result from outside takes the first replica. One that is on the device
  // already is copied there, which costs no bytes: lowering makes it a view.
  absl::StatusOr<ValueId> ProvideFirstOn(const std::string& device,
                                         ValueId value,
                                         const std::string& reader);
  // A copy of its own at `place`, as the last node.
  absl::StatusOr<ValueId> CopyAtEnd(ValueId value, const Whereabouts& place,
                                    const std::string& name,
                                    const std::string& reader);
  // `name`, or `name` with a number behind it if a value has it already.
  std::string FreshName(const std::string& name);
  // What to insert before to come behind `node`, or first if it is invalid: the
  // node that follows it, or a copy's source, in the order that the graph had
  // at construction. Invalid: the end.
  NodeId After(NodeId node) const;

 private:
  absl::Status CheckLinks(ValueId value, const Whereabouts& have,
                          const Whereabouts& need,
                          const std::string& reader) const;
  absl::StatusOr<ValueId> CopyOnce(ValueId value, const Whereabouts& need,
                                   const std::string& reader);
  absl::StatusOr<ValueId> Copy(ValueId value, const Whereabouts& place,
                               const std::string& name, NodeId before,
                               const std::string& reader);

  Graph& graph_;
  const LinkTable links_;
  std::vector<NodeId> next_;  // by node id
  NodeId first_;
  std::map<std::pair<ValueId, Whereabouts>, ValueId> copies_;
  absl::flat_hash_set<std::string> names_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_CONNECT_H_
