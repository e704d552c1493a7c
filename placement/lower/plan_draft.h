// A function's plan in the making: what the steps of lowering hand on.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PLAN_DRAFT_H_
#define PARTITA_PLACEMENT_LOWER_PLAN_DRAFT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "placement/partition/micro_batches.h"
#include "runtime/plan/plan.h"

namespace partita {

// Arenas and the offsets in them are multiples of this.
inline constexpr int64_t kArenaAlignment = 64;
static_assert(kArenaAlignment % kWorkspaceAlignment == 0);
int64_t AlignUp(int64_t bytes);

// What one device holds of a value: all of it, or the part of one member of a
// split; of a value that differs between micro-batches, one for each of them.
// Several pieces may lie in one storage: views, and results that took over an
// operand's bytes.
struct Piece {
  ValueId value;
  int member = 0;
  int micro_batch = 0;
  int device = 0;   // index into the plan's devices
  TensorType type;  // of the piece
  int64_t bytes = 0;
  int storage = -1;      // -1: not read or written by any task
  int64_t offset = 0;    // in the storage
  bool updated = false;  // a persistent storage's content after its update
};

// Bytes that are laid out together.
struct Storage {
  int device = 0;
  int64_t bytes = 0;
  // Of a persistent storage: the constant or variable node, and the member.
  NodeId source;
  int member = 0;
  LiteralId initial;     // what a persistent storage holds at first
  int64_t address = -1;  // in its part of the arena, once laid out
  bool persistent() const { return source.valid(); }
};

// Bytes of a piece, relative to its begin.
struct Touch {
  int piece = -1;
  Range range;
};

// One command but records and waits, which follow from the tasks. The parts of
// a collective are tasks of one node, one behind the other.
struct Task {
  // Kernel, copy, feed, fetch or collective.
  Command::Kind kind = Command::Kind::kKernel;
  Instance instance;
  int port = -1;
  int stream = -1;
  std::vector<Touch> reads;
  std::vector<Touch> writes;
  int workspace = -1;  // a storage
  int rank = 0;        // its place in the order of the graph
  int turn = 0;        // what has a lower one goes first: PlanDraft::turns
};

// True for two parts of one collective.
bool DoTogether(const Task& a, const Task& b);

// A device's commands: those that compute, those that copy to device `target`,
// and its parts of collectives.
struct StreamKey {
  enum class Role : uint8_t { kCompute, kCopy, kCollective };
  int device = 0;
  Role role = Role::kCompute;
  int target = -1;  // kCopy
  friend auto operator<=>(const StreamKey&, const StreamKey&) = default;
};

// The devices that a plan uses, in the machine's order.
struct DeviceTable {
  std::vector<std::string> names;
  absl::flat_hash_map<std::string, int> index;
};

struct PlanDraft {
  const Graph* graph = nullptr;
  const DeviceTable* devices = nullptr;
  MicroBatches micro_batches;
  std::vector<Piece> pieces;
  std::vector<int> first_piece;  // by value id; -1: the value is not placed
  // By value id: it differs between micro-batches. The whole sum over them,
  // which readers of an `accumulate` take, does not.
  std::vector<bool> varies;
  std::vector<Storage> storages;
  std::vector<StreamKey> streams;
  std::vector<Task> tasks;  // in launch order once scheduled
  // What each turn does: "forward 0", of the first stage; "" for what runs once
  // a step.
  std::vector<std::string> turns;

  // The devices of a value, by member.
  const Placement& PlacementOf(ValueId value) const;
  // The piece that a reader in `micro_batch` takes.
  int PieceOf(ValueId value, int member, int micro_batch) const;
  // That which lies on a device, or -1.
  int PieceOn(ValueId value, int device, int micro_batch) const;
  // What a member has summed up after a micro-batch.
  int SumAfter(ValueId sum, int member, int micro_batch) const;
  // How often the nodes that make the value run.
  int RunsOf(ValueId value) const {
    return varies[value.index] ? micro_batches.count : 1;
  }
  int AddStorage(int device, int64_t bytes);
  int StreamOf(StreamKey key);
  // Goes with the kernels of its device, in their stream.
  bool Computes(const Task& task) const {
    return streams[task.stream].role == StreamKey::Role::kCompute;
  }
  Touch Whole(int piece) const;
};

// The bytes of a storage between the first and the last byte that a touch
// reaches: what steps that need not know gaps take it for.
struct Extent {
  int storage = -1;
  int64_t begin = 0;
  int64_t end = 0;
  bool overlaps(const Extent& other) const {
    return storage == other.storage && begin < other.end && other.begin < end;
  }
};
Extent ExtentOf(const PlanDraft& draft, const Touch& touch);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PLAN_DRAFT_H_
