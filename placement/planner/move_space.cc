// Finds places, equal items and updates.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/move_space.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "absl/algorithm/container.h"
#include "placement/planner/equal_nodes.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr size_t kMostItemsForPairs = 16;

// Numbers 0 .. size - 1, each next one far from those before (Weyl sequence).
std::vector<int> Spread(int size) {
  int step = std::max(1, static_cast<int>(0.618 * size));
  while (std::gcd(step, size) > 1) --step;
  std::vector<int> numbers;
  for (int i = 0; i < size; ++i) {
    numbers.push_back(static_cast<int>(static_cast<int64_t>(i) * step % size));
  }
  return numbers;
}

}  // namespace

MoveSpace::MoveSpace(const SearchSpace& search)
    : space(search),
      forms(search),
      line(FoldBackward(search.request.costs, search.flow,
                        search.request.options.micro_batches)),
      blocks(FindEqualBlocks(search.request, search.flow)),
      places(search.flow.items.size()) {
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = PlacesToTry(space, static_cast<int>(i));
  }
  std::vector<int> movable;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].empty()) continue;
    movable.push_back(static_cast<int>(i));
    const auto& results =
        space.request.graph().node(space.flow.items[i].node).results;
    if (absl::c_any_of(results, [&](ValueId result) {
          return space.flow.values[result].is_update;
        })) {
      updates.push_back(static_cast<int>(i));
    }
  }
  for (int i : Spread(static_cast<int>(movable.size()))) {
    spread.push_back(movable[i]);
  }
  tries_pairs = spread.size() <= kMostItemsForPairs;
  FindEqual();
}

void MoveSpace::FindEqual() {
  std::vector<int> item_of(space.request.graph().node_id_bound(), -1);
  for (int item : spread) item_of[space.flow.items[item].node.index] = item;
  for (const std::vector<NodeId>& nodes : EqualNodes(space.request)) {
    if (item_of[nodes.front().index] < 0) continue;
    different.push_back(item_of[nodes.front().index]);
    if (nodes.size() < 2) continue;
    std::vector<int>& items = equal.emplace_back();
    for (NodeId node : nodes) items.push_back(item_of[node.index]);
  }
}

}  // namespace partita
