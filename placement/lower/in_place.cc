// In-place results, in launch order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/in_place.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "placement/lower/pieces.h"
#include "placement/lower/views.h"

namespace partita {
namespace {

struct TaskUse {
  int task;
  Touch touch;
};

class Reuser {
 public:
  Reuser(PlanDraft& draft, const Clocks& clocks)
      : draft_(draft),
        clocks_(clocks),
        uses_(draft.storages.size()),
        pieces_(draft.storages.size()) {
    for (size_t i = 0; i < draft.tasks.size(); ++i) {
      for (const Touch& t : draft.tasks[i].reads) AddUse(i, t);
      for (const Touch& t : draft.tasks[i].writes) AddUse(i, t);
    }
    for (size_t i = 0; i < draft.pieces.size(); ++i) {
      const int storage = draft.pieces[i].storage;
      if (storage >= 0) pieces_[storage].push_back(static_cast<int>(i));
    }
  }

  void Visit(int task) {
    const Task& t = draft_.tasks[task];
    const std::vector<InPlacePair> pairs = PairsOf(t);
    std::vector<bool> placed(t.writes.size(), false);
    std::vector<bool> taken(t.reads.size(), false);
    // First operands that are whole storages, then parts of larger ones.
    for (const bool whole : {true, false}) {
      for (const InPlacePair& pair : pairs) {
        if (!IsValid(t, pair) || placed[pair.result] || taken[pair.operand]) {
          continue;
        }
        const Piece& operand = Operand(t, pair);
        const bool is_whole =
            draft_.storages[operand.storage].bytes == operand.bytes;
        if (is_whole != whole || !CanReuse(task, pair)) continue;
        Merge(task, pair);
        placed[pair.result] = true;
        taken[pair.operand] = true;
      }
    }
  }

 private:
  void AddUse(int task, const Touch& touch) {
    uses_[draft_.pieces[touch.piece].storage].push_back({task, touch});
  }
  static std::vector<InPlacePair> Alike(const Task& task) {
    std::vector<InPlacePair> pairs;
    for (int i = 0; i < static_cast<int>(task.reads.size()); ++i) {
      pairs.push_back({i, i});
    }
    return pairs;
  }

  // Sums may take the place of their operands, or of their share of these.
  std::vector<InPlacePair> PairsOf(const Task& task) const {
    const bool exchanges = task.kind == Command::Kind::kCollective;
    if (!exchanges && task.kind != Command::Kind::kKernel) return {};
    const OpView node = draft_.graph->view(task.instance.node);
    if (exchanges) {
      const Sharding sharding = ShardingOf(draft_, node.operand(0).id());
      return sharding.kind == Sharding::Kind::kPartial
                 ? Alike(task)
                 : std::vector<InPlacePair>();
    }
    std::vector<InPlacePair> pairs = node.node().kernel->in_place;
    // A sum stays where it is: that is operand 1.
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
  const Piece& Operand(const Task& task, const InPlacePair& pair) const {
    return draft_.pieces[task.reads[pair.operand].piece];
  }
  const Piece& Result(const Task& task, const InPlacePair& pair) const {
    return draft_.pieces[task.writes[pair.result].piece];
  }

  // Where in the operand the result may lie: a scattered sum at its own place,
  // anything else over all of it.
  std::optional<int64_t> PlaceIn(const Task& task,
                                 const InPlacePair& pair) const {
    const Piece& operand = Operand(task, pair);
    const Piece& result = Result(task, pair);
    if (operand.bytes == result.bytes) return 0;
    if (task.kind != Command::Kind::kCollective) return std::nullopt;
    return OffsetInside(draft_, result, operand);
  }

  bool CanReuse(int task, const InPlacePair& pair) const {
    const Task& t = draft_.tasks[task];
    const Piece& operand = Operand(t, pair);
    const Piece& result = Result(t, pair);
    const Storage& from = draft_.storages[operand.storage];
    const Storage& to = draft_.storages[result.storage];
    if (!PlaceIn(t, pair).has_value() || operand.bytes == 0 ||
        operand.storage == result.storage || from.persistent() ||
        to.persistent() || to.bytes != result.bytes) {
      return false;
    }
    const Extent bytes = ExtentOf(draft_, t.reads[pair.operand]);
    int own = 0;  // uses by the task itself
    for (const TaskUse& use : uses_[operand.storage]) {
      if (!ExtentOf(draft_, use.touch).overlaps(bytes)) continue;
      if (use.task == task ? ++own > 1 : !clocks_.Before(use.task, task)) {
        return false;
      }
    }
    return true;
  }

  // Uses before the task need not be kept: what follows the task follows them.
  void Merge(int task, const InPlacePair& pair) {
    const Piece operand = Operand(draft_.tasks[task], pair);
    const int64_t place = *PlaceIn(draft_.tasks[task], pair);
    const int gone = Result(draft_.tasks[task], pair).storage;
    const Extent bytes =
        ExtentOf(draft_, draft_.tasks[task].reads[pair.operand]);
    std::vector<TaskUse>& uses = uses_[operand.storage];
    uses.erase(std::remove_if(uses.begin(), uses.end(),
                              [&](const TaskUse& use) {
                                const Extent e = ExtentOf(draft_, use.touch);
                                return e.begin >= bytes.begin &&
                                       e.end <= bytes.end;
                              }),
               uses.end());
    for (int piece : pieces_[gone]) {
      draft_.pieces[piece].storage = operand.storage;
      draft_.pieces[piece].offset += operand.offset + place;
      pieces_[operand.storage].push_back(piece);
    }
    uses.insert(uses.end(), uses_[gone].begin(), uses_[gone].end());
    uses_[gone].clear();
    pieces_[gone].clear();
  }

  PlanDraft& draft_;
  const Clocks& clocks_;
  std::vector<std::vector<TaskUse>> uses_;  // by storage
  std::vector<std::vector<int>> pieces_;    // by storage
};

}  // namespace

void ReuseOperands(PlanDraft& draft, const Clocks& clocks) {
  Reuser reuser(draft, clocks);
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    reuser.Visit(static_cast<int>(i));
  }
}

}  // namespace partita
