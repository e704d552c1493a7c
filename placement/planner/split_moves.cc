// Moves that split items which are connected through their values.
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "placement/planner/move_list.h"

namespace partita {
namespace {

bool Has(absl::Span<const FormedValue> list, FormedValue formed) {
  return absl::c_any_of(list, [&](const FormedValue& other) {
    return other.value == formed.value && other.form == formed.form;
  });
}

// Items that are listed a second time, in families of items that an earlier
// family has. Such a family is mostly the same, so that these would take time
// quadratic in the items of a large graph.
constexpr int64_t kMostRepeated = 1 << 15;

// The splits that follow from one, without a transfer between them.
class Families {
 public:
  explicit Families(const MoveSpace& space)
      : space_(space),
        flow_(space.space.flow),
        known_(flow_.items.size()),
        split_(flow_.items.size(), ItemPlace::kWhole) {
    for (size_t i = 0; i < known_.size(); ++i) {
      known_[i].assign(space.space.splits.of(static_cast<int>(i)).size(), 0);
    }
  }

  // Empty for an item that an earlier family splits so, once too many were
  // repeated.
  Move Of(int item, const ItemPlace& place) {
    const bool is_known = known_[item][place.split] != 0;
    if (is_known && repeated_ >= kMostRepeated) return {};
    Join(item, place.split);
    for (size_t i = 0; i < joined_.size(); ++i) JoinNeighbours(joined_[i]);
    if (is_known) repeated_ += static_cast<int64_t>(joined_.size());
    absl::c_sort(joined_);
    Move move;
    for (int other : joined_) {
      move.emplace_back(other, ItemPlace{place.devices, split_[other]});
      known_[other][split_[other]] = 1;
      split_[other] = ItemPlace::kWhole;
    }
    joined_.clear();
    return move;
  }

 private:
  void Join(int item, int split) {
    split_[item] = split;
    joined_.push_back(item);
  }

  void JoinNeighbours(int item) {
    const int split = split_[item];
    for (const FormedValue& made : space_.forms.results(item, split)) {
      for (int reader : flow_.values[made.value].readers) {
        JoinIf(
            reader,
            [&](int other) {
              return Has(space_.forms.sources(reader, other), made);
            },
            made);
      }
    }
    for (const FormedValue& read : space_.forms.sources(item, split)) {
      const int maker = flow_.values[read.value].maker;
      if (maker < 0) continue;
      JoinIf(
          maker,
          [&](int other) {
            return Has(space_.forms.results(maker, other), read);
          },
          read);
    }
  }

  template <typename Test>
  void JoinIf(int item, const Test& fits, FormedValue formed) {
    if (split_[item] != ItemPlace::kWhole) return;
    if (formed.form == ValueForms::kWholeForm) return;
    const int count = static_cast<int>(space_.space.splits.of(item).size());
    for (int split = 0; split < count; ++split) {
      if (!fits(split)) continue;
      Join(item, split);
      return;
    }
  }

  const MoveSpace& space_;
  const Flow& flow_;
  std::vector<std::vector<char>> known_;  // by item and split
  int64_t repeated_ = 0;
  // Of one family.
  std::vector<int> split_;  // by item
  std::vector<int> joined_;
};

// The items that update variables on several devices, and the items of equal
// size that only they read, such as a scaled gradient. What leaves partial sums
// is no part of the update.
class Updates {
 public:
  Updates(const MoveSpace& space, const MoveList& list)
      : space_(space), list_(list), is_update_(space.places.size(), 0) {
    for (int item : space.updates) is_update_[item] = IsOnSeveral(item);
    // Readers come after what they read.
    for (int item = static_cast<int>(is_update_.size()) - 1; item >= 0;
         --item) {
      if (is_update_[item] == 0) is_update_[item] = LeadsToUpdate(item);
    }
    for (size_t i = 0; i < is_update_.size(); ++i) {
      if (is_update_[i] == 0) continue;
      items_.push_back(static_cast<int>(i));
      bytes_ += BytesOf(static_cast<int>(i));
    }
  }

  // The items whose results have at least `least` bytes.
  void Shard(int64_t least, MoveList& list) const {
    const std::vector<MachineDeviceId>& devices = space_.space.splits.devices();
    Move move;
    for (int item : items_) {
      const int split = space_.space.splits.Along(item, 0);
      if (split < 0 || BytesOf(item) < least) continue;
      list.AddTo(move, item, {{devices.begin(), devices.end()}, split});
    }
    list.AddIfNew(std::move(move));
  }

  void Replicate(MoveList& list) const {
    const std::vector<MachineDeviceId>& devices = space_.space.splits.devices();
    list.Add(items_, {{devices.begin(), devices.end()}});
  }

  int64_t mean_bytes() const {
    return items_.empty() ? 0 : bytes_ / static_cast<int64_t>(items_.size());
  }

 private:
  bool IsOnSeveral(int item) const {
    return list_.draft()[item].devices.size() > 1;
  }

  ValueId ResultOf(int item) const {
    const auto& node = space_.space.flow.items[item].node;
    const auto& results = space_.space.request.graph().node(node).results;
    return results.empty() ? ValueId() : results.front();
  }

  int64_t BytesOf(int item) const {
    return space_.space.request.costs.bytes(ResultOf(item));
  }

  bool LeavesPartialSum(int item) const {
    const ItemPlace& place = list_.draft()[item];
    return place.split != ItemPlace::kWhole &&
           space_.space.splits.of(item)[place.split].results[0].kind ==
               Sharding::Kind::kPartial;
  }

  bool LeadsToUpdate(int item) const {
    const ValueId result = ResultOf(item);
    if (!result.valid() || space_.places[item].empty()) return false;
    const FlowValue& value = space_.space.flow.values[result];
    return !value.readers.empty() && !value.is_output && IsOnSeveral(item) &&
           !LeavesPartialSum(item) &&
           absl::c_all_of(value.readers, [&](int reader) {
             return is_update_[reader] != 0 && BytesOf(reader) == BytesOf(item);
           });
  }

  const MoveSpace& space_;
  const MoveList& list_;
  std::vector<char> is_update_;  // by item
  std::vector<int> items_;
  int64_t bytes_ = 0;
};

}  // namespace

// Items of one family lead to the same move.
void AddFamilies(const MoveSpace& space, MoveList& list) {
  Families families(space);
  for (int item : space.different) {
    for (const ItemPlace& place : space.places[item]) {
      if (list.is_full()) return;
      if (place.split == ItemPlace::kWhole) continue;
      Move move;
      for (const auto& [other, to] : families.Of(item, place)) {
        list.AddTo(move, other, to);
      }
      if (move.size() > 1) list.AddIfNew(std::move(move));
    }
  }
}

// A small variable is gathered as slowly as a large one, so that large ones
// alone may be worth it.
void AddUpdates(const MoveSpace& space, MoveList& list) {
  if (space.updates.empty() || space.space.splits.num_ranks() < 2) return;
  const Updates updates(space, list);
  updates.Shard(/*least=*/0, list);
  updates.Shard(updates.mean_bytes(), list);
  updates.Replicate(list);
}

}  // namespace partita
