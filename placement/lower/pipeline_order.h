// The order of micro-batches in pipeline stages: GPipe and 1F1B.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PIPELINE_ORDER_H_
#define PARTITA_PLACEMENT_LOWER_PIPELINE_ORDER_H_

#include <vector>

#include "graph/id_vector.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"

namespace partita {

using PipelineUnitId = Id<struct PipelineUnitTag>;

// Work of one device on each micro-batch that runs without a break: the forward
// or backward pass of a stage.
struct PipelineUnit {
  int level = 0;  // transfers between devices before it
  bool backward = false;
  MachineDeviceId device;
  std::vector<PipelineUnitId> after;  // units of the same micro-batch
};

struct UnitRun {
  PipelineUnitId unit;
  MicroBatchId micro_batch;
  friend bool operator==(const UnitRun&, const UnitRun&) = default;
};

// Returns all units of all micro-batches in the order in which devices that run
// in parallel start them. A backward unit is assumed to take twice as long as a
// forward one.
//  * 1F1B (Narayanan et al., PipeDream-Flush, 2021): a device starts the ready
//    unit with the highest level. It limits its micro-batches in flight to what
//    keeps it busy: half the transfers from its first unit to its last, plus
//    one.
//  * GPipe (Huang et al. 2019): a device starts backward units after all its
//    forward ones.
std::vector<UnitRun> OrderUnits(
    const IdVector<PipelineUnitId, PipelineUnit>& units, int micro_batches,
    PipelineSchedule schedule);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PIPELINE_ORDER_H_
