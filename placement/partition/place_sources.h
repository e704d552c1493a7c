// Places constants, variables and inputs on the devices that read them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_PLACE_SOURCES_H_
#define PARTITA_PLACEMENT_PARTITION_PLACE_SOURCES_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/op_view.h"
#include "placement/machine/machine.h"
#include "placement/partition/sharded_placement.h"
#include "placement/partition/variable_homes.h"

namespace partita {

// Constants and variables, whose values no node computes.
bool IsSource(const OpView& op);

// Places the sources of one graph, and finds the source for each reader. Needs:
// every other node is placed.
class Sources {
 public:
  // All must outlive it.
  Sources(Graph& graph, const Machine& machine, const VariableHomes& homes)
      : graph_(graph), machine_(machine), homes_(homes) {}

  // Merges equal sources. Gives each updated variable one home. Places every
  // other source and input wherever it is read. InvalidArgument for an update
  // of a variable that no node reads.
  absl::Status Place();
  // The value that a reader at `need` reads instead: the source that is placed
  // there, or `value` itself.
  ValueId For(ValueId value, const ShardedPlacement& need) const;
  // The node of a variable that is updated.
  NodeId home(const std::string& variable) const {
    return variables_.at(variable);
  }
  // Erases sources without readers. Call when all operands are set.
  void EraseUnread();

 private:
  // The placements at which a source is needed, in the order of its readers.
  struct Needs {
    std::vector<ShardedPlacement> places;
    bool anywhere = false;  // an output or update reads it
  };

  void MergeEqual();
  absl::Status HomeVariables();
  Placement HomeOf(const std::string& variable, NodeId node) const;
  void CollectNeeds();
  absl::Status PlaceAll();
  absl::Status PlaceOne(NodeId id, NodeId next, const Needs& needs);
  absl::StatusOr<ValueId> Clone(NodeId id, const ShardedPlacement& place,
                                NodeId before);
  void PlaceInputs();
  Placement PlaceOfInput(const Needs& needs) const;
  static bool IsReadSharded(const Needs& needs);
  std::vector<std::string> MachineOrder(
      const std::set<std::string>& devices) const;
  bool IsUpdated(const OpView& op) const;

  Graph& graph_;
  const Machine& machine_;
  const VariableHomes& homes_;
  absl::flat_hash_set<std::string> updated_;            // here or elsewhere
  absl::flat_hash_map<std::string, NodeId> variables_;  // updated ones
  std::map<ValueId, Needs> needs_;                      // of sources and inputs
  // By source and placement: the clone that is placed there.
  std::map<std::pair<ValueId, ShardedPlacement>, ValueId> clones_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_PLACE_SOURCES_H_
