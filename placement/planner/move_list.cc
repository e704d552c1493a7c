// What all kinds of moves ask about a draft.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/move_list.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

template <typename List>
void SortOnce(List& list) {
  absl::c_sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

bool MoveList::CanRun(int item, const ItemDevices& devices) const {
  const SearchSpace& space = space_.space;
  return absl::c_all_of(devices, [&](MachineDeviceId device) {
    return space.request.costs.cost(space.flow.items[item].node, device)
        .can_run;
  });
}

void MoveList::AddTo(Move& move, int item, const ItemPlace& place) const {
  const bool changes = !space_.places[item].empty() && draft_[item] != place &&
                       CanRun(item, place.devices);
  if (changes) move.emplace_back(item, place);
}

void MoveList::Add(Move move) {
  if (!move.empty() && !is_full()) moves_.push_back(std::move(move));
}

void MoveList::Add(absl::Span<const int> items, const ItemPlace& place) {
  Move move;
  for (int item : items) AddTo(move, item, place);
  Add(std::move(move));
}

void MoveList::AddIfNew(Move move) {
  if (!absl::c_linear_search(moves_, move)) Add(std::move(move));
}

std::vector<int> MoveList::ReadersOf(int item) const {
  std::vector<int> readers;
  for (const FormedValue& result :
       space_.forms.results(item, ItemPlace::kWhole)) {
    const std::vector<int>& more =
        space_.space.flow.values[result.value].readers;
    readers.insert(readers.end(), more.begin(), more.end());
  }
  SortOnce(readers);
  return readers;
}

bool MoveList::UpdatesVariable(int item) const {
  return absl::c_any_of(
      space_.forms.results(item, ItemPlace::kWhole),
      [&](const FormedValue& result) {
        return space_.space.flow.values[result.value].is_update;
      });
}

ItemDevices MoveList::With(int item, const ItemDevices& more) const {
  ItemDevices devices = draft_[item].devices;
  devices.insert(devices.end(), more.begin(), more.end());
  SortOnce(devices);
  return devices;
}

ItemDevices MoveList::WithReaders(int item) const {
  ItemDevices readers;
  for (int reader : ReadersOf(item)) {
    readers.insert(readers.end(), draft_[reader].devices.begin(),
                   draft_[reader].devices.end());
  }
  return With(item, readers);
}

}  // namespace partita
