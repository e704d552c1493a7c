// Lists moves in a fixed order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/search_moves.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "absl/algorithm/container.h"
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

}  // namespace

// Collects the moves of one draft.
class SearchMoves::Collector {
 public:
  Collector(const SearchMoves& moves, const WholeDraft& draft, size_t most)
      : moves_(moves),
        costs_(moves.request_.costs),
        flow_(moves.flow_),
        draft_(draft),
        most_(most) {}

  std::vector<Move> Run() {
    MoveBorders();
    MoveItems();
    MoveWithReaders();
    MoveEqual();
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

  void AddTo(Move& move, int item, const ItemDevices& devices) const {
    const bool changes = moves_.is_movable_[item] != 0 &&
                         draft_[item] != devices && CanRun(item, devices);
    if (changes) move.emplace_back(item, devices);
  }

  void Add(Move move) {
    if (!move.empty() && !is_full()) list_.push_back(std::move(move));
  }

  void Add(const std::vector<int>& items, const ItemDevices& devices) {
    Move move;
    for (int item : items) AddTo(move, item, devices);
    Add(std::move(move));
  }

  // The items [first, last).
  void AddRun(int first, int last, const ItemDevices& devices) {
    Move move;
    for (int item = first; item < last; ++item) AddTo(move, item, devices);
    Add(std::move(move));
  }

  void MoveBorders() {
    const int num_items = static_cast<int>(draft_.size());
    int borders = 0;
    for (int i = 1; i < num_items && borders < kMostBorders; ++i) {
      if (draft_[i] == draft_[i - 1]) continue;
      ++borders;
      for (int length = 1; length <= num_items && !is_full(); length *= 2) {
        if (i + length <= num_items) AddRun(i, i + length, draft_[i - 1]);
        if (i - length >= 0) AddRun(i - length, i, draft_[i]);
      }
    }
  }

  void MoveItems() {
    for (int item : moves_.spread_) {
      for (MachineDeviceId device : costs_.devices()) Add({item}, {device});
      if (is_full()) return;
    }
  }

  std::vector<int> ReadersOf(int item) const {
    std::vector<int> readers;
    for (ValueId result :
         moves_.request_.graph().node(flow_.items[item].node).results) {
      const std::vector<int>& more = flow_.values[result].readers;
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
      for (MachineDeviceId device : costs_.devices()) Add(family, {device});
      if (is_full()) return;
    }
  }

  void MoveEqual() {
    for (const std::vector<int>& items : moves_.equal_) {
      for (MachineDeviceId device : costs_.devices()) Add(items, {device});
      if (is_full()) return;
    }
  }

  // New values of variables are made once.
  bool UpdatesVariable(int item) const {
    return absl::c_any_of(
        moves_.request_.graph().node(flow_.items[item].node).results,
        [&](ValueId result) { return flow_.values[result].is_update; });
  }

  // The draft's devices of the item, and these.
  ItemDevices With(int item, const ItemDevices& more) const {
    ItemDevices devices = draft_[item];
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
        readers.insert(readers.end(), draft_[reader].begin(),
                       draft_[reader].end());
      }
      Add({item}, With(item, readers));
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
    AddTo(move, item, devices);
    if (move.empty()) return;
    for (ValueId source : flow_.items[item].sources) {
      const int maker = flow_.values[source].maker;
      if (maker < 0 || UpdatesVariable(maker)) continue;
      AddTo(move, maker, With(maker, devices));
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
    for (MachineDeviceId first : costs_.devices()) {
      for (MachineDeviceId second : costs_.devices()) {
        Move move;
        AddTo(move, a, {first});
        AddTo(move, b, {second});
        if (move.size() == 2) Add(std::move(move));
      }
    }
  }

  const SearchMoves& moves_;
  const CostModel& costs_;
  const Flow& flow_;
  const WholeDraft& draft_;
  const size_t most_;
  std::vector<Move> list_;
};

SearchMoves::SearchMoves(const PlanRequest& request, const Flow& flow)
    : request_(request), flow_(flow) {
  for (const FlowItem& item : flow.items) {
    is_movable_.push_back(request.pin(item.node) == nullptr ? 1 : 0);
  }
  std::vector<int> movable;
  for (size_t i = 0; i < flow.items.size(); ++i) {
    if (is_movable_[i] != 0) movable.push_back(static_cast<int>(i));
  }
  for (int i : Spread(static_cast<int>(movable.size()))) {
    spread_.push_back(movable[i]);
  }
  std::vector<int> item_of(request.graph().node_id_bound(), -1);
  for (int item : movable) item_of[flow.items[item].node.index] = item;
  for (const std::vector<NodeId>& nodes : EqualNodes(request)) {
    if (nodes.size() < 2 || item_of[nodes.front().index] < 0) continue;
    std::vector<int>& items = equal_.emplace_back();
    for (NodeId node : nodes) items.push_back(item_of[node.index]);
  }
}

std::vector<Move> SearchMoves::Of(const WholeDraft& draft, size_t most) const {
  return Collector(*this, draft, most).Run();
}

}  // namespace partita
