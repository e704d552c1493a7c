// A function lowered up to its live ranges: the counter of the bytes that live
// at a time.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_FUNCTION_DRAFT_H_
#define PARTITA_PLACEMENT_LOWER_FUNCTION_DRAFT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "placement/lower/clocks.h"
#include "placement/lower/launch_order.h"
#include "placement/lower/live_ranges.h"
#include "placement/lower/plan_draft.h"
#include "placement/lower/step_predictor.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"

namespace partita {

// All that decides memory is done: launch order, in-place results, live ranges.
// Only addresses are missing.
struct FunctionDraft {
  PlanDraft draft;
  Clocks clocks;
  IdVector<MachineDeviceId, DeviceStorages> storages;
  // As in OrderedDraft.
  bool least_peak = true;
  std::optional<double> step_seconds;
};

// The input of the first steps of lowering. All of it must outlive the draft.
struct FunctionInput {
  const Graph& graph;
  const Machine& machine;
  const DeviceTable& devices;
  const MicroBatches& micro_batches;
  const StepPredictor& predict;  // may be empty
  int depth = 1;
};

// The steps from FindShards to FindLiveRanges, with their errors.
absl::StatusOr<FunctionDraft> DraftFunction(const FunctionInput& input,
                                            DraftGoal goal);

// The bytes on each device that the functions of one plan need, with `depth`
// steps overlapping. Constants and variables that functions share count once.
// The bytes of a step are the heaviest set of unordered live ranges, of the
// function with the heaviest: no plan of these drafts needs less, and packing
// usually needs no more.
IdVector<MachineDeviceId, int64_t> NeededBytes(
    absl::Span<FunctionDraft* const> drafts, int depth,
    const DeviceTable& devices);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_FUNCTION_DRAFT_H_
