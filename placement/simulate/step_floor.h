// What every plan of a graph must run, and the least time that it takes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_STEP_FLOOR_H_
#define PARTITA_PLACEMENT_SIMULATE_STEP_FLOOR_H_

#include <cstdint>
#include <vector>

#include "graph/id_vector.h"
#include "graph/ids.h"
#include "placement/cost/cost_model.h"
#include "placement/simulate/device_groups.h"

namespace partita {

// The ranks that run a node in a known plan.
struct KnownRanks {
  int ranks = 1;
  double seconds = 0;  // of each rank; 0: unknown
};

// What is known of a plan's step: bounds for it hold for no faster kernels than
// it has.
struct KnownStep {
  int depth = 1;  // steps that overlap
  // By node id: sharded nodes, whose shards may be faster than their share of
  // the whole node. Missing or unknown: not sharded.
  std::vector<KnownRanks> sharded;
  // By value id: how often a step makes the value, such as once per
  // micro-batch; 1 if missing.
  std::vector<int> runs;

  int RunsOf(ValueId value) const {
    const size_t i = value.index;
    return i < runs.size() ? runs[i] : 1;
  }
};

// Which shard of a node or value: their sizes may differ.
enum class ShardSize : uint8_t { kLargest, kSmallest };

// Seconds of a command: the launch, which every rank repeats, and the work,
// which ranks share.
struct CommandFloor {
  double launch = 0;
  double work = 0;
  double total() const { return launch + work; }
};

// The least seconds of nodes, feeds and fetches on each group of devices.
class StepFloor {
 public:
  // All must outlive this.
  StepFloor(const CostModel& costs, const DeviceGroups& groups,
            const KnownStep& known);

  // The whole node; infinite where the group has no kernel. Nothing for nodes
  // that another plan may not need (copies, reorders), for views and stored
  // values, and for nodes without a kernel on any device.
  CommandFloor Node(NodeId node, DeviceGroupId group) const;
  // A feed or fetch of the whole value.
  CommandFloor Port(ValueId value, DeviceGroupId group) const;

  // The least share of the node's work, or of the value's bytes, that such a
  // shard may have: over all devices, along the factor (dimension) that splits
  // furthest, but into no more shards than it has elements.
  double LeastShare(NodeId node, ShardSize size) const;
  double LeastShare(ValueId value, ShardSize size) const;

  // False for a value without bytes: no command waits for it.
  bool IsAwaited(ValueId value) const;

  // By operand: true if all of the node's work follows it. Another plan may run
  // a fused node as the nodes of its body, and the first of these need not wait
  // for what only later ones read.
  std::vector<bool> PrecedesAllWork(NodeId node) const;

  // By node id: bytes of the constants that the node is the first to read. A
  // device that runs a share of the node stores at least that share of them.
  std::vector<double> StoredBytes() const;

 private:
  bool IsFree(NodeId node) const;
  double KnownWork(NodeId node) const;
  double LeastShareOf(int64_t extent, ShardSize size) const;

  const CostModel& costs_;
  const DeviceGroups& groups_;
  const KnownStep& known_;
  IdVector<NodeId, int64_t> most_shards_;  // of any factor
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_STEP_FLOOR_H_
