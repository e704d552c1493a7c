// How much memory a placement needs on each device, quickly.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_MEMORY_ESTIMATE_H_
#define PARTITA_PLACEMENT_COST_MEMORY_ESTIMATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "placement/cost/cost_model.h"

namespace partita {

// A placement, its devices by index into the machine; none for a node that is
// not placed.
struct NodeDevices {
  absl::InlinedVector<int, 1> devices;
  std::vector<Sharding> operands;
  std::vector<Sharding> results;
  // Each device does its part of the work.
  bool divided() const { return !results.empty(); }
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
  int first = 0;  // positions in order() between which it lies there
  int last = 0;
};

struct EstimatedMemory {
  int64_t persistent = 0;  // constants and variables that it reads
  int64_t peak = 0;        // with activations and workspace, at most
  int peak_position = 0;   // where in order()
};

// If nodes run in graph order: constants and variables count on each device
// that reads them, for ever; values from their maker (inputs: from the start)
// to their last reader, outputs to the end; a value read on another device lies
// there from its making on, and at home until each other device's first reader.
// A view holds its root's bytes. A sum over micro-batches lives from the first
// of them on. What a variable becomes takes over the variable's bytes where
// lowering lets it (placement/lower/updates.h): its kernel may write over that
// operand, is not divided but into rows, and all other readers come before it,
// on its devices. Unlike a plan, the estimate lets no other result take over
// its operand's bytes, and it does not know fragmentation, nor buckets of sums.
std::vector<EstimatedMemory> EstimateMemory(const CostModel& costs,
                                            const Assignment& assignment);

// What lies on the device when it is fullest, largest first; equal sizes in
// graph order.
std::vector<MemoryHolder> HoldersAtPeak(const CostModel& costs,
                                        const Assignment& assignment,
                                        int device);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_MEMORY_ESTIMATE_H_
