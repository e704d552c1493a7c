// Moves of equal items and equal blocks together.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/algorithm/container.h"
#include "placement/planner/move_list.h"

namespace partita {
namespace {

// The blocks whose places the others take, and that move alone.
constexpr int kMostBlocks = 64;

// Nodes of equal types may have other attributes, and so other splits.
void AddTogether(const MoveSpace& space, const std::vector<int>& items,
                 const ItemPlace& place, MoveList& list) {
  Move move;
  for (int item : items) {
    list.AddTo(move, item, PlaceLike(space.space, item, items.front(), place));
  }
  list.AddIfNew(std::move(move));
}

// The items at each position of the blocks, together to each place.
void AddPositions(const MoveSpace& space, const EqualBlocks& blocks,
                  MoveList& list) {
  for (int position = 0; position < blocks.length; ++position) {
    std::vector<int> items;
    for (int block = 0; block < blocks.count; ++block) {
      items.push_back(blocks.item(block, position));
    }
    for (const ItemPlace& place : space.places[items.front()]) {
      if (list.is_full()) return;
      AddTogether(space, items, place, list);
    }
  }
}

// Every other block like this one.
void AddLike(const MoveSpace& space, const EqualBlocks& blocks, int model,
             MoveList& list) {
  Move move;
  for (int block = 0; block < blocks.count; ++block) {
    for (int position = 0; position < blocks.length; ++position) {
      const int like = blocks.item(model, position);
      const int item = blocks.item(block, position);
      list.AddTo(move, item,
                 PlaceLike(space.space, item, like, list.draft()[like]));
    }
  }
  list.AddIfNew(std::move(move));
}

// The whole block on one device.
void AddBlock(const MoveSpace& space, const EqualBlocks& blocks, int block,
              MoveList& list) {
  std::vector<int> items;
  for (int position = 0; position < blocks.length; ++position) {
    items.push_back(blocks.item(block, position));
  }
  for (MachineDeviceId device : space.space.request.costs.devices()) {
    list.Add(items, {{device}});
  }
}

}  // namespace

void AddEqualItems(const MoveSpace& space, MoveList& list) {
  for (const std::vector<int>& items : space.equal) {
    for (const ItemPlace& place : space.places[items.front()]) {
      Move move;
      for (int item : items) {
        list.AddTo(move, item,
                   PlaceLike(space.space, item, items.front(), place));
      }
      list.Add(std::move(move));
    }
    if (list.is_full()) return;
  }
}

void AddBlocks(const MoveSpace& space, MoveList& list) {
  if (space.tries_pairs) return;
  for (const EqualBlocks& blocks : space.blocks) {
    AddPositions(space, blocks, list);
    for (int block = 0; block < blocks.count && block < kMostBlocks; ++block) {
      if (list.is_full()) return;
      AddLike(space, blocks, block, list);
      AddBlock(space, blocks, block, list);
    }
  }
}

}  // namespace partita
