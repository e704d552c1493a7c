// Drafts of a search: where each computing node computes, and how.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_ITEM_DRAFT_H_
#define PARTITA_PLACEMENT_PLANNER_ITEM_DRAFT_H_

#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "placement/planner/flow.h"
#include "placement/planner/item_splits.h"
#include "placement/planner/placement_draft.h"

namespace partita {

using ItemDevices = absl::InlinedVector<MachineDeviceId, 1>;  // ascending

// Where an item computes.
struct ItemPlace {
  static constexpr int kWhole = -1;

  friend bool operator==(const ItemPlace&, const ItemPlace&) = default;

  ItemDevices devices;
  // kWhole: each device computes the whole item. Else the number in
  // ItemSplits::of, and `devices` are those of the splits.
  int split = kWhole;
};

using ItemDraft = std::vector<ItemPlace>;  // by item of a flow

// What a search moves in. All must outlive it.
struct SearchSpace {
  explicit SearchSpace(const PlanRequest& request)
      : request(request), flow(request.costs), splits(request, flow) {}

  const PlanRequest& request;
  const Flow flow;
  const ItemSplits splits;
};

// Where moves put the item: each device alone and, over the devices of
// ItemSplits, the whole item on every device and each split. An item without
// splits: each device alone. Empty: the item is pinned.
std::vector<ItemPlace> PlacesToTry(const SearchSpace& space, int item);
// `place` of item `other`, for `item`: whole on these devices if the item has
// no such split.
ItemPlace PlaceLike(const SearchSpace& space, int item, int other,
                    ItemPlace place);
// The draft's places; nothing if a node that is not pinned is sharded in a way
// that ItemSplits does not have.
std::optional<ItemDraft> ItemDraftOf(const SearchSpace& space,
                                     const Draft& draft);
// The draft of these places. Pins are where they must be; a view is split like
// the value that it views, or like what its first reader reads of an input.
Draft DraftOf(const SearchSpace& space, const ItemDraft& items);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_ITEM_DRAFT_H_
