// The user's constraints on the drafts of a search.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_ITEM_CONSTRAINTS_H_
#define PARTITA_PLACEMENT_PLANNER_ITEM_CONSTRAINTS_H_

#include <optional>
#include <vector>

#include "placement/planner/constraints.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/search_moves.h"

namespace partita {

class ItemConstraints {
 public:
  // The space must outlive it.
  explicit ItemConstraints(const SearchSpace& space);

  bool empty() const { return constraints_.empty(); }
  // True if the draft breaks none.
  bool Allow(const ItemDraft& draft) const;
  // The move, and the items that must stay together with its items: on their
  // devices, split like the first of them where they have such a split, else
  // whole.
  Move WithPartners(Move move) const;
  // A draft that breaks none, with as many of these places as it can; nothing
  // if none was found.
  std::optional<ItemDraft> Repair(ItemDraft draft) const;

 private:
  int CountDevices(const ItemDraft& draft) const;
  bool AreTogether(const ItemDraft& draft, const NodeConstraint& all) const;
  bool AreApart(const ItemDraft& draft, const NodeConstraint& all) const;
  std::vector<DeviceSet> Preferred(const ItemDraft& draft, int item) const;
  void JoinLast(int item);
  bool IsPinned(int item) const;

  const SearchSpace& space_;
  const Constraints constraints_;
  const std::vector<DeviceSet> shared_pins_;
  const NodeClasses classes_;           // without constraints: of no node
  std::vector<int> item_of_;            // by node id; -1: none
  std::vector<int> constrained_;        // items
  std::vector<std::vector<int>> sets_;  // of items that stay together
  std::vector<int> set_of_;             // by item; -1: none
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_ITEM_CONSTRAINTS_H_
