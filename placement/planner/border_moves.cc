// Moves of the borders between devices.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "placement/planner/move_list.h"

namespace partita {
namespace {

// The changes of device at which borders move.
constexpr int kMostBorders = 64;

// A line of positions, each of one or more items; the first item is where the
// position is. A split is that of one item, so what moves is whole.
class BorderMover {
 public:
  BorderMover(absl::Span<const std::vector<int>> line, MoveList& list)
      : line_(line), list_(list) {}

  void Run() {
    const int num_positions = static_cast<int>(line_.size());
    int borders = 0;
    for (int i = 1; i < num_positions && borders < kMostBorders; ++i) {
      if (DevicesAt(i) == DevicesAt(i - 1)) continue;
      ++borders;
      for (int length = 1; length <= num_positions && !list_.is_full();
           length *= 2) {
        if (i + length <= num_positions) {
          AddRun(i, i + length, {DevicesAt(i - 1)});
        }
        if (i - length >= 0) AddRun(i - length, i, {DevicesAt(i)});
      }
    }
  }

 private:
  const ItemDevices& DevicesAt(int position) const {
    return list_.draft()[line_[position].front()].devices;
  }

  // The positions [first, last).
  void AddRun(int first, int last, const ItemPlace& place) {
    Move move;
    for (int position = first; position < last; ++position) {
      for (int item : line_[position]) list_.AddTo(move, item, place);
    }
    list_.Add(std::move(move));
  }

  const absl::Span<const std::vector<int>> line_;
  MoveList& list_;
};

}  // namespace

void AddBorders(const MoveSpace& space, MoveList& list) {
  std::vector<std::vector<int>> line;
  for (size_t i = 0; i < space.places.size(); ++i) {
    line.push_back({static_cast<int>(i)});
  }
  BorderMover(line, list).Run();
}

// Without backward items the folded line is the graph's order.
void AddStageBorders(const MoveSpace& space, MoveList& list) {
  if (!absl::c_linear_search(space.line.backward, true)) return;
  BorderMover(space.line.items, list).Run();
}

}  // namespace partita
