// A fast estimate of the memory that a placement needs on each device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_MEMORY_ESTIMATE_H_
#define PARTITA_PLACEMENT_COST_MEMORY_ESTIMATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "placement/cost/cost_model.h"

namespace partita {

// A placement with devices by index into the machine. No devices: not placed.
struct NodeDevices {
  absl::InlinedVector<int, 1> devices;
  std::vector<Sharding> operands;
  std::vector<Sharding> results;
  // Each device runs one shard of the node.
  bool sharded() const { return !results.empty(); }
};
using Assignment = std::vector<NodeDevices>;  // by node id

// One tensor in the memory of a device.
struct MemoryHolder {
  enum class Kind : uint8_t {
    kConstant,
    kVariable,
    kInput,
    kActivation,
    kWorkspace
  };
  Kind kind = Kind::kActivation;
  ValueId value;  // kWorkspace: the first result of its node
  int64_t bytes = 0;
  int first = 0;  // its live range: positions in order(), inclusive
  int last = 0;
};

struct EstimatedMemory {
  int64_t persistent = 0;  // bytes of constants and variables
  int64_t peak = 0;        // bytes, with activations and workspace
  int peak_position = 0;   // position of the peak in order()
};

// Assumes that nodes run in graph order:
// * Constants and variables count on each device that reads them, always; a
//   constant that a device reads as a shard, as its shard.
// * A value is live from its producer (an input: from the start) to its last
//   reader, an output to the end. On another device that reads it, it is live
//   from its producer on; at home it is live until each other device's first
//   reader.
// * A view shares its root's bytes. A sum over micro-batches is live from the
//   start.
// * A new value of a variable reuses the variable's bytes if lowering allows it
//   (placement/lower/updates.h): the kernel may overwrite that operand, the
//   node is whole or sharded by rows, and all other readers come before it, on
//   its devices.
// * Any other result reuses the bytes of an operand if the kernel may overwrite
//   it, both have equal sizes, and nothing else reads the operand from then on.
// Unlike a plan, the estimate has one order, no fragmentation and no buckets.
std::vector<EstimatedMemory> EstimateMemory(const CostModel& costs,
                                            const Assignment& assignment);

// The tensors on the device at its peak, largest first; equal sizes in graph
// order.
std::vector<MemoryHolder> HoldersAtPeak(const CostModel& costs,
                                        const Assignment& assignment,
                                        int device);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_MEMORY_ESTIMATE_H_
