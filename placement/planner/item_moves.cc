// Moves of single items, with their readers, and of pairs.
// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include "placement/planner/move_list.h"

namespace partita {
namespace {

void AddPair(const MoveSpace& space, int a, int b, MoveList& list) {
  for (const ItemPlace& first : space.places[a]) {
    for (const ItemPlace& second : space.places[b]) {
      Move move;
      list.AddTo(move, a, first);
      list.AddTo(move, b, second);
      if (move.size() == 2) list.Add(std::move(move));
    }
  }
}

}  // namespace

void AddItems(const MoveSpace& space, MoveList& list) {
  for (int item : space.spread) {
    for (const ItemPlace& place : space.places[item]) list.Add({item}, place);
    if (list.is_full()) return;
  }
}

void AddWithReaders(const MoveSpace& space, MoveList& list) {
  for (int item : space.spread) {
    std::vector<int> family = list.ReadersOf(item);
    if (family.empty()) continue;
    family.push_back(item);
    for (MachineDeviceId device : space.space.request.costs.devices()) {
      list.Add(family, {{device}});
    }
    if (list.is_full()) return;
  }
}

void AddPairs(const MoveSpace& space, MoveList& list) {
  if (!space.tries_pairs) return;
  for (int a : space.spread) {
    for (int b : space.spread) {
      if (a < b) AddPair(space, a, b, list);
    }
  }
}

}  // namespace partita
