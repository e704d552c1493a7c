// Collects the moves of one draft.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_MOVE_LIST_H_
#define PARTITA_PLACEMENT_PLANNER_MOVE_LIST_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "placement/planner/move_space.h"
#include "placement/planner/search_moves.h"

namespace partita {

// Thread safety: none.
class MoveList {
 public:
  // Both must outlive it.
  MoveList(const MoveSpace& space, const ItemDraft& draft, size_t most)
      : space_(space), draft_(draft), most_(most) {}

  const ItemDraft& draft() const { return draft_; }
  size_t size() const { return moves_.size(); }
  bool is_full() const { return size() >= most_; }
  // From now on the list is full after so many more moves.
  void Allow(size_t more) { most_ = size() + more; }

  // Adds the item to the move if it is movable, has kernels there and is
  // elsewhere.
  void AddTo(Move& move, int item, const ItemPlace& place) const;
  // Drops empty moves, and all when the list is full.
  void Add(Move move);
  void Add(absl::Span<const int> items, const ItemPlace& place);
  // Unless the list has it: for moves that several items lead to.
  void AddIfNew(Move move);

  // The items that read a result, ascending.
  std::vector<int> ReadersOf(int item) const;
  // True if the item makes the new value of a variable.
  bool UpdatesVariable(int item) const;
  // The draft's devices of the item, and these.
  ItemDevices With(int item, const ItemDevices& more) const;
  // The draft's devices of the item, and of its readers.
  ItemDevices WithReaders(int item) const;

  std::vector<Move> Take() { return std::move(moves_); }

 private:
  bool CanRun(int item, const ItemDevices& devices) const;

  const MoveSpace& space_;
  const ItemDraft& draft_;
  size_t most_;
  std::vector<Move> moves_;
};

// Each adds the moves of one kind (MoveKind).
// border_moves.cc:
void AddBorders(const MoveSpace& space, MoveList& list);
void AddStageBorders(const MoveSpace& space, MoveList& list);
// equal_moves.cc:
void AddEqualItems(const MoveSpace& space, MoveList& list);
void AddBlocks(const MoveSpace& space, MoveList& list);
// split_moves.cc:
void AddFamilies(const MoveSpace& space, MoveList& list);
void AddUpdates(const MoveSpace& space, MoveList& list);
// item_moves.cc:
void AddItems(const MoveSpace& space, MoveList& list);
void AddWithReaders(const MoveSpace& space, MoveList& list);
void AddPairs(const MoveSpace& space, MoveList& list);
// copy_moves.cc:
void AddReplicas(const MoveSpace& space, MoveList& list);
void AddRecomputed(const MoveSpace& space, MoveList& list);
void AddWithMakers(const MoveSpace& space, MoveList& list);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_MOVE_LIST_H_
