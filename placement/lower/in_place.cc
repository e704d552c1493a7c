// Chooses in-place results in launch order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/in_place.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "placement/lower/shards.h"
#include "placement/lower/views.h"

namespace partita {
namespace {

struct TaskUse {
  TaskId task;
  ShardAccess access;
};

class Reuser {
 public:
  Reuser(PlanDraft& draft, const Clocks& clocks)
      : draft_(draft),
        clocks_(clocks),
        uses_(draft.storages.size()),
        shards_(draft.storages.size()) {
    for (TaskId task : draft.tasks.ids()) {
      for (const ShardAccess& t : draft.tasks[task].reads) AddUse(task, t);
      for (const ShardAccess& t : draft.tasks[task].writes) AddUse(task, t);
    }
    for (ShardId shard : draft.shards.ids()) {
      const StorageId storage = draft.shards[shard].storage;
      if (storage.valid()) shards_[storage].push_back(shard);
    }
  }

  void Visit(TaskId task) {
    const Task& t = draft_.tasks[task];
    const std::vector<InPlacePair> pairs = PairsOf(t);
    std::vector<bool> placed(t.writes.size(), false);
    std::vector<bool> reused(t.reads.size(), false);
    // Tries operands that are whole storages first, then parts of larger ones.
    for (const bool whole : {true, false}) {
      for (const InPlacePair& pair : pairs) {
        if (!IsValid(t, pair) || placed[pair.result] || reused[pair.operand]) {
          continue;
        }
        const Shard& operand = Operand(t, pair);
        const bool is_whole =
            draft_.storages[operand.storage].bytes == operand.bytes;
        if (is_whole != whole || !CanReuse(task, pair)) continue;
        Merge(task, pair);
        placed[pair.result] = true;
        reused[pair.operand] = true;
      }
    }
  }

 private:
  void AddUse(TaskId task, const ShardAccess& access) {
    uses_[draft_.shards[access.shard].storage].push_back({task, access});
  }
  static std::vector<InPlacePair> SameIndexPairs(const Task& task) {
    std::vector<InPlacePair> pairs;
    for (int i = 0; i < static_cast<int>(task.reads.size()); ++i) {
      pairs.push_back({i, i});
    }
    return pairs;
  }

  // The operand-result pairs that may share bytes. A reduction across ranks may
  // overwrite its operand: all of it, or the rank's shard of it.
  std::vector<InPlacePair> PairsOf(const Task& task) const {
    const bool is_collective = task.kind == Command::Kind::kCollective;
    if (!is_collective && task.kind != Command::Kind::kKernel) return {};
    const OpView node = draft_.graph->view(task.instance.node);
    if (is_collective) {
      const Sharding sharding = ShardingOf(draft_, node.operand(0).id());
      return sharding.kind == Sharding::Kind::kPartial
                 ? SameIndexPairs(task)
                 : std::vector<InPlacePair>();
    }
    std::vector<InPlacePair> pairs = node.node().kernel->in_place;
    // Prefers to accumulate into the sum so far, which is operand 1.
    if (node.is(kAccumulate)) {
      std::stable_partition(
          pairs.begin(), pairs.end(),
          [](const InPlacePair& pair) { return pair.operand == 1; });
    }
    return pairs;
  }
  static bool IsValid(const Task& task, const InPlacePair& pair) {
    return pair.operand >= 0 && pair.result >= 0 &&
           pair.operand < static_cast<int>(task.reads.size()) &&
           pair.result < static_cast<int>(task.writes.size());
  }
  const Shard& Operand(const Task& task, const InPlacePair& pair) const {
    return draft_.shards[task.reads[pair.operand].shard];
  }
  const Shard& Result(const Task& task, const InPlacePair& pair) const {
    return draft_.shards[task.writes[pair.result].shard];
  }

  // Where in the operand the result may be stored: a reduce-scattered shard at
  // its own offset, any other result at 0.
  std::optional<int64_t> OffsetIn(const Task& task,
                                  const InPlacePair& pair) const {
    const Shard& operand = Operand(task, pair);
    const Shard& result = Result(task, pair);
    if (operand.bytes == result.bytes) return 0;
    if (task.kind != Command::Kind::kCollective) return std::nullopt;
    return OffsetInside(draft_, result, operand);
  }

  bool CanReuse(TaskId task, const InPlacePair& pair) const {
    const Task& t = draft_.tasks[task];
    const Shard& operand = Operand(t, pair);
    const Shard& result = Result(t, pair);
    const Storage& from = draft_.storages[operand.storage];
    const Storage& to = draft_.storages[result.storage];
    if (!OffsetIn(t, pair).has_value() || operand.bytes == 0 ||
        operand.storage == result.storage || from.persistent() ||
        to.persistent() || to.bytes != result.bytes) {
      return false;
    }
    const Extent bytes = ExtentOf(draft_, t.reads[pair.operand]);
    int own = 0;  // accesses by the task itself
    for (const TaskUse& use : uses_[operand.storage]) {
      if (!ExtentOf(draft_, use.access).overlaps(bytes)) continue;
      if (use.task == task ? ++own > 1 : !clocks_.Before(use.task, task)) {
        return false;
      }
    }
    return true;
  }

  // Moves the result into the storage of the operand. Earlier uses of those
  // bytes are dropped: whatever follows the task follows them too.
  void Merge(TaskId task, const InPlacePair& pair) {
    const Shard operand = Operand(draft_.tasks[task], pair);
    const int64_t offset = *OffsetIn(draft_.tasks[task], pair);
    const StorageId gone = Result(draft_.tasks[task], pair).storage;
    const Extent bytes =
        ExtentOf(draft_, draft_.tasks[task].reads[pair.operand]);
    std::vector<TaskUse>& uses = uses_[operand.storage];
    uses.erase(std::remove_if(uses.begin(), uses.end(),
                              [&](const TaskUse& use) {
                                const Extent e = ExtentOf(draft_, use.access);
                                return e.begin >= bytes.begin &&
                                       e.end <= bytes.end;
                              }),
               uses.end());
    for (ShardId shard : shards_[gone]) {
      draft_.shards[shard].storage = operand.storage;
      draft_.shards[shard].offset += operand.offset + offset;
      shards_[operand.storage].push_back(shard);
    }
    uses.insert(uses.end(), uses_[gone].begin(), uses_[gone].end());
    uses_[gone].clear();
    shards_[gone].clear();
  }

  PlanDraft& draft_;
  const Clocks& clocks_;
  IdVector<StorageId, std::vector<TaskUse>> uses_;
  IdVector<StorageId, std::vector<ShardId>> shards_;
};

}  // namespace

void ReuseOperands(PlanDraft& draft, const Clocks& clocks) {
  Reuser reuser(draft, clocks);
  for (TaskId task : draft.tasks.ids()) reuser.Visit(task);
}

}  // namespace partita
