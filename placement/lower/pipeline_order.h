// The order in which stages take up micro-batches: GPipe and 1F1B.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PIPELINE_ORDER_H_
#define PARTITA_PLACEMENT_LOWER_PIPELINE_ORDER_H_

#include <vector>

#include "placement/partition/micro_batches.h"

namespace partita {

// What a device does of each micro-batch in one go.
struct PipelineUnit {
  int level = 0;  // transfers on the way to it
  bool backward = false;
  int device = 0;
  std::vector<int> after;  // units of the same micro-batch, by index
};

struct UnitRun {
  int unit = 0;
  int micro_batch = 0;
  friend bool operator==(const UnitRun&, const UnitRun&) = default;
};

// All units in all micro-batches, as devices that work side by side begin with
// them; a backward unit is taken to last two forward ones.
//  * 1F1B (Narayanan et al., PipeDream-Flush, 2021): a device goes for what is
//    furthest on its way, and has no more micro-batches under way than it needs
//    to be busy: half the transfers from its first unit to its last, and one.
//  * GPipe (Huang et al. 2019): a device begins with backward units when it has
//    done all forward ones.
std::vector<UnitRun> OrderUnits(const std::vector<PipelineUnit>& units,
                                int micro_batches, PipelineSchedule schedule);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PIPELINE_ORDER_H_
