// A draft of a plan: the data that the steps of lowering pass on.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PLAN_DRAFT_H_
#define PARTITA_PLACEMENT_LOWER_PLAN_DRAFT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/id_vector.h"
#include "graph/ids.h"
#include "graph/views.h"
#include "placement/lower/device_lists.h"
#include "placement/lower/ids.h"
#include "placement/lower/stream_table.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"
#include "runtime/plan/plan.h"

namespace partita {

using ShardId = Id<struct ShardTag>;      // index into PlanDraft::shards
using StorageId = Id<struct StorageTag>;  // index into PlanDraft::storages

// Alignment of arenas and of the offsets in them, in bytes.
inline constexpr int64_t kArenaAlignment = kViewAlignment;
static_assert(kArenaAlignment % kWorkspaceAlignment == 0);
int64_t AlignUp(int64_t bytes);

// What one device holds of a value: the whole value, or one rank's shard of a
// split or partial one. A value that differs between micro-batches has one
// Shard per micro-batch. Several may be stored in one storage: views, and
// results in place of an operand.
struct Shard {
  ValueId value;
  int rank = 0;
  MicroBatchId micro_batch;
  MachineDeviceId device;
  TensorType type;  // type of the shard
  int64_t bytes = 0;
  StorageId storage;     // invalid: not read or written by any task
  int64_t offset = 0;    // in the storage
  bool updated = false;  // the new value of a variable
};

// Bytes that get one offset in the arena.
struct Storage {
  MachineDeviceId device;
  int64_t bytes = 0;
  // If persistent: its constant or variable node, and the rank.
  NodeId source;
  int rank = 0;
  LiteralId initial;    // initial value of a persistent storage
  int64_t offset = -1;  // in its part of the arena; -1: none yet
  bool persistent() const { return source.valid(); }
};

// An access to bytes of a shard. The range is relative to the start of the
// shard.
struct ShardAccess {
  ShardId shard;
  Range range;
};

// One command of any kind except records and waits, which follow from the
// tasks. A collective has one task per rank; its tasks are adjacent and have
// the same node.
struct Task {
  // Kernel, copy, feed, fetch or collective.
  Command::Kind kind = Command::Kind::kKernel;
  Instance instance;
  int port = -1;
  StreamId stream;  // index into PlanDraft::streams
  std::vector<ShardAccess> reads;
  std::vector<ShardAccess> writes;
  StorageId workspace;  // invalid: none
  int graph_order = 0;  // position in the order of the graph
  int unit_run = 0;     // index into PlanDraft::unit_runs; lower ones run first
};

// True for two tasks of one collective.
bool SameCollective(const Task& a, const Task& b);

// The devices of the machine, in its order.
struct DeviceTable {
  IdVector<MachineDeviceId, std::string> names;
  absl::flat_hash_map<std::string, MachineDeviceId> ids;  // by name
};

struct PlanDraft {
  const Graph* graph = nullptr;
  const DeviceTable* devices = nullptr;
  MicroBatches micro_batches;
  IdVector<ShardId, Shard> shards;
  // The first of a value's shards; invalid: the value is not placed.
  IdVector<ValueId, ShardId> first_shard;
  DeviceLists device_lists;
  IdVector<ValueId, DeviceListId> devices_of;  // of placed values
  // By value id: true if it differs between micro-batches. The sum over all
  // micro-batches, which readers of an `accumulate` read, does not.
  std::vector<bool> varies;
  IdVector<StorageId, Storage> storages;
  StreamTable streams;
  IdVector<TaskId, Task> tasks;  // in launch order once scheduled
  // What each unit run does: "forward0" for the forward unit of level 0; "" for
  // what runs once per step. Empty without micro-batches.
  std::vector<std::string> unit_runs;

  // The devices of a value, by rank, and its sharding.
  const Placement& PlacementOf(ValueId value) const;
  // The shard that a reader in `micro_batch` reads. For an `accumulate`, the
  // sum over all micro-batches.
  ShardId ShardOf(ValueId value, int rank, MicroBatchId micro_batch) const;
  // The shard on `device`; invalid: none.
  ShardId ShardOn(ValueId value, MachineDeviceId device,
                  MicroBatchId micro_batch) const;
  // The partial result of an `accumulate` on a rank after `micro_batch`.
  ShardId SumAfter(ValueId sum, int rank, MicroBatchId micro_batch) const;
  // The micro-batches in which the nodes that compute the value run.
  IdRange<MicroBatchId> RunsOf(ValueId value) const {
    return varies[value.index] ? micro_batches.ids()
                               : IdRange(kFirstMicroBatch, 1);
  }
  StorageId AddStorage(MachineDeviceId device, int64_t bytes);
  // A task that is not in `tasks` yet.
  Task NewTask(Command::Kind kind, StreamKey stream, Instance instance);
  // True if the task runs in the compute stream of its device.
  bool Computes(const Task& task) const {
    return streams[task.stream].role == StreamKey::Role::kCompute;
  }
  ShardAccess Whole(ShardId shard) const;
  // All tasks in order: the tasks of one collective together, every other task
  // alone.
  std::vector<IdRange<TaskId>> TasksByCollective() const;
};

// The bytes of a storage from the first to the last byte of an access. Steps
// that ignore the gaps of strided ranges use it.
struct Extent {
  StorageId storage;
  int64_t begin = 0;
  int64_t end = 0;
  bool overlaps(const Extent& other) const {
    return storage == other.storage && begin < other.end && other.begin < end;
  }
};
Extent ExtentOf(const PlanDraft& draft, const ShardAccess& access);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PLAN_DRAFT_H_
