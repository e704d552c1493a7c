// The placements of a small graph that compute every node whole on one device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_WHOLE_PLACEMENTS_H_
#define PARTITA_PLACEMENT_PLANNER_WHOLE_PLACEMENTS_H_

#include <cstdint>
#include <vector>

#include "placement/planner/item_draft.h"

namespace partita {

// Counts through them like a number with a digit for each item that is not
// pinned: its place among the devices that have kernels for it.
class WholePlacements {
 public:
  explicit WholePlacements(const SearchSpace& space);

  // How many there are, at most `most` + 1.
  int64_t CountUpTo(int64_t most) const;
  // The first of them, with pinned items as in `pinned`.
  ItemDraft First(ItemDraft pinned) const;
  // Makes the next of them of `draft`; false after the last.
  bool Next(ItemDraft& draft) const;

 private:
  struct Digit {
    int item = 0;
    std::vector<MachineDeviceId> devices;
  };

  std::vector<Digit> digits_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_WHOLE_PLACEMENTS_H_
