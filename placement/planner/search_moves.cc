// Lists moves in a fixed order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/search_moves.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "placement/planner/equal_nodes.h"

namespace partita {
namespace {

// Graphs of so many items try all pairs.
constexpr size_t kMostItemsForPairs = 16;
// The changes of device at which borders move.
constexpr int kMostBorders = 64;

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

bool Has(absl::Span<const FormedValue> list, FormedValue formed) {
  return absl::c_any_of(list, [&](const FormedValue& other) {
    return other.value == formed.value && other.form == formed.form;
  });
}

}  // namespace

void Apply(const Move& move, ItemDraft& draft) {
  for (const auto& [item, place] : move) draft[item] = place;
}

Move UndoOf(const ItemDraft& draft, const Move& move) {
  Move undo;
  for (const auto& [item, place] : move) undo.emplace_back(item, draft[item]);
  return undo;
}

// The splits that follow from one, without a transfer between them.
class SearchMoves::Family {
 public:
  explicit Family(const SearchMoves& moves)
      : moves_(moves),
        flow_(moves.space_.flow),
        split_(flow_.items.size(), ItemPlace::kWhole) {}

  Move Of(int item, const ItemPlace& place) {
    Join(item, place.split);
    for (size_t i = 0; i < joined_.size(); ++i) JoinNeighbours(joined_[i]);
    absl::c_sort(joined_);
    Move move;
    for (int member : joined_) {
      move.emplace_back(member, ItemPlace{place.devices, split_[member]});
    }
    return move;
  }

 private:
  void Join(int item, int split) {
    split_[item] = split;
    joined_.push_back(item);
  }

  void JoinNeighbours(int item) {
    const int split = split_[item];
    for (const FormedValue& made : moves_.forms_.results(item, split)) {
      for (int reader : flow_.values[made.value].readers) {
        JoinIf(
            reader,
            [&](int other) {
              return Has(moves_.forms_.sources(reader, other), made);
            },
            made);
      }
    }
    for (const FormedValue& read : moves_.forms_.sources(item, split)) {
      const int maker = flow_.values[read.value].maker;
      if (maker < 0) continue;
      JoinIf(
          maker,
          [&](int other) {
            return Has(moves_.forms_.results(maker, other), read);
          },
          read);
    }
  }

  template <typename Test>
  void JoinIf(int item, const Test& fits, FormedValue formed) {
    if (split_[item] != ItemPlace::kWhole) return;
    if (formed.form == ValueForms::kWholeForm) return;
    const int count = static_cast<int>(moves_.space_.splits.of(item).size());
    for (int split = 0; split < count; ++split) {
      if (!fits(split)) continue;
      Join(item, split);
      return;
    }
  }

  const SearchMoves& moves_;
  const Flow& flow_;
  std::vector<int> split_;  // by item
  std::vector<int> joined_;
};

// Collects the moves of one draft.
class SearchMoves::Collector {
 public:
  Collector(const SearchMoves& moves, const ItemDraft& draft, size_t most)
      : moves_(moves),
        costs_(moves.space_.request.costs),
        flow_(moves.space_.flow),
        draft_(draft),
        most_(most) {}

  std::vector<Move> Run() {
    MoveBorders();
    MoveEqual();
    MoveFamilies();
    MoveItems();
    MoveWithReaders();
    Replicate();
    MoveWithMakers();
    if (moves_.spread_.size() <= kMostItemsForPairs) MovePairs();
    return std::move(list_);
  }

 private:
  bool is_full() const { return list_.size() >= most_; }

  bool CanRun(int item, const ItemDevices& devices) const {
    return absl::c_all_of(devices, [&](MachineDeviceId device) {
      return costs_.cost(flow_.items[item].node, device).can_run;
    });
  }

  void AddTo(Move& move, int item, const ItemPlace& place) const {
    const bool changes = !moves_.places_[item].empty() &&
                         draft_[item] != place && CanRun(item, place.devices);
    if (changes) move.emplace_back(item, place);
  }

  void Add(Move move) {
    if (!move.empty() && !is_full()) list_.push_back(std::move(move));
  }

  void Add(const std::vector<int>& items, const ItemPlace& place) {
    Move move;
    for (int item : items) AddTo(move, item, place);
    Add(std::move(move));
  }

  // The items [first, last).
  void AddRun(int first, int last, const ItemPlace& place) {
    Move move;
    for (int item = first; item < last; ++item) AddTo(move, item, place);
    Add(std::move(move));
  }

  // A split is that of one item, so runs are whole.
  void MoveBorders() {
    const int num_items = static_cast<int>(draft_.size());
    int borders = 0;
    for (int i = 1; i < num_items && borders < kMostBorders; ++i) {
      if (draft_[i].devices == draft_[i - 1].devices) continue;
      ++borders;
      for (int length = 1; length <= num_items && !is_full(); length *= 2) {
        if (i + length <= num_items) {
          AddRun(i, i + length, {draft_[i - 1].devices});
        }
        if (i - length >= 0) AddRun(i - length, i, {draft_[i].devices});
      }
    }
  }

  void MoveItems() {
    for (int item : moves_.spread_) {
      for (const ItemPlace& place : moves_.places_[item]) Add({item}, place);
      if (is_full()) return;
    }
  }

  void MoveFamilies() {
    for (int item : moves_.different_) {
      for (const ItemPlace& place : moves_.places_[item]) {
        if (is_full()) return;
        if (place.split != ItemPlace::kWhole) MoveFamily(item, place);
      }
    }
  }

  // Members of one family lead to the same move.
  void MoveFamily(int item, const ItemPlace& place) {
    Move move;
    for (const auto& [member, to] : Family(moves_).Of(item, place)) {
      AddTo(move, member, to);
    }
    if (move.size() > 1 && !absl::c_linear_search(list_, move)) {
      Add(std::move(move));
    }
  }

  std::vector<int> ReadersOf(int item) const {
    std::vector<int> readers;
    for (const FormedValue& result :
         moves_.forms_.results(item, ItemPlace::kWhole)) {
      const std::vector<int>& more = flow_.values[result.value].readers;
      readers.insert(readers.end(), more.begin(), more.end());
    }
    absl::c_sort(readers);
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    return readers;
  }

  void MoveWithReaders() {
    for (int item : moves_.spread_) {
      std::vector<int> family = ReadersOf(item);
      if (family.empty()) continue;
      family.push_back(item);
      for (MachineDeviceId device : costs_.devices()) Add(family, {{device}});
      if (is_full()) return;
    }
  }

  void MoveEqual() {
    for (const std::vector<int>& items : moves_.equal_) {
      for (const ItemPlace& place : moves_.places_[items.front()]) {
        MoveEqual(items, place);
      }
      if (is_full()) return;
    }
  }

  // Nodes of equal types may have other attributes, and so other splits.
  void MoveEqual(const std::vector<int>& items, const ItemPlace& place) {
    Move move;
    for (int item : items) {
      AddTo(move, item, PlaceLike(moves_.space_, item, items.front(), place));
    }
    Add(std::move(move));
  }

  // New values of variables are made once.
  bool UpdatesVariable(int item) const {
    return absl::c_any_of(moves_.forms_.results(item, ItemPlace::kWhole),
                          [&](const FormedValue& result) {
                            return flow_.values[result.value].is_update;
                          });
  }

  // The draft's devices of the item, and these.
  ItemDevices With(int item, const ItemDevices& more) const {
    ItemDevices devices = draft_[item].devices;
    devices.insert(devices.end(), more.begin(), more.end());
    absl::c_sort(devices);
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    return devices;
  }

  void Replicate() {
    for (int item : moves_.spread_) {
      if (is_full()) return;
      if (UpdatesVariable(item)) continue;
      ItemDevices readers;
      for (int reader : ReadersOf(item)) {
        readers.insert(readers.end(), draft_[reader].devices.begin(),
                       draft_[reader].devices.end());
      }
      Add({item}, {With(item, readers)});
    }
  }

  void MoveWithMakers() {
    for (int item : moves_.spread_) {
      if (is_full()) return;
      for (MachineDeviceId device : costs_.devices()) {
        MoveWithMakers(item, {device});
      }
    }
  }

  void MoveWithMakers(int item, const ItemDevices& devices) {
    Move move;
    AddTo(move, item, {devices});
    if (move.empty()) return;
    for (ValueId source : flow_.items[item].sources) {
      const int maker = flow_.values[source].maker;
      if (maker < 0 || UpdatesVariable(maker)) continue;
      AddTo(move, maker, {With(maker, devices)});
    }
    if (move.size() > 1) Add(std::move(move));
  }

  void MovePairs() {
    for (int a : moves_.spread_) {
      for (int b : moves_.spread_) {
        if (a < b) MovePair(a, b);
      }
    }
  }

  void MovePair(int a, int b) {
    for (const ItemPlace& first : moves_.places_[a]) {
      for (const ItemPlace& second : moves_.places_[b]) {
        Move move;
        AddTo(move, a, first);
        AddTo(move, b, second);
        if (move.size() == 2) Add(std::move(move));
      }
    }
  }

  const SearchMoves& moves_;
  const CostModel& costs_;
  const Flow& flow_;
  const ItemDraft& draft_;
  const size_t most_;
  std::vector<Move> list_;
};

SearchMoves::SearchMoves(const SearchSpace& space)
    : space_(space), forms_(space), places_(space.flow.items.size()) {
  FindPlaces();
  std::vector<int> movable;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].empty()) movable.push_back(static_cast<int>(i));
  }
  for (int i : Spread(static_cast<int>(movable.size()))) {
    spread_.push_back(movable[i]);
  }
  FindEqual();
}

void SearchMoves::FindPlaces() {
  const std::vector<MachineDeviceId>& shared = space_.splits.devices();
  const ItemDevices all(shared.begin(), shared.end());
  for (size_t i = 0; i < places_.size(); ++i) {
    if (space_.request.pin(space_.flow.items[i].node) != nullptr) continue;
    for (MachineDeviceId device : space_.request.costs.devices()) {
      places_[i].push_back({{device}});
    }
    const auto& splits = space_.splits.of(static_cast<int>(i));
    if (splits.empty()) continue;
    places_[i].push_back({all});
    for (size_t split = 0; split < splits.size(); ++split) {
      places_[i].push_back({all, static_cast<int>(split)});
    }
  }
}

void SearchMoves::FindEqual() {
  std::vector<int> item_of(space_.request.graph().node_id_bound(), -1);
  for (int item : spread_) {
    item_of[space_.flow.items[item].node.index] = item;
  }
  for (const std::vector<NodeId>& nodes : EqualNodes(space_.request)) {
    if (item_of[nodes.front().index] < 0) continue;
    different_.push_back(item_of[nodes.front().index]);
    if (nodes.size() < 2) continue;
    std::vector<int>& items = equal_.emplace_back();
    for (NodeId node : nodes) items.push_back(item_of[node.index]);
  }
}

std::vector<Move> SearchMoves::Of(const ItemDraft& draft, size_t most) const {
  return Collector(*this, draft, most).Run();
}

}  // namespace partita
