// Lists the commands of a placed graph, in the order of the graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_TASKS_H_
#define PARTITA_PLACEMENT_LOWER_TASKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "placement/lower/plan_draft.h"
#include "placement/machine/machine.h"

namespace partita {

// Where devices with DeviceKindTraits::ports_beside_kernels copy inputs and
// outputs.
enum class PortStreams : uint8_t {
  // In streams of their own, while kernels run. The bytes of an input are not
  // shared with values that are dead by then, nor those of an output with later
  // ones.
  kOwn,
  kOfKernels,  // as on other devices
};

// Fills in storages, streams and tasks. Needs: shards. Leaves: a storage for
// every shard that a task accesses.
//
// A feed comes before the first reader of its input, a copy after the producer
// of its operand, fetches at the end. An op that only moves bytes needs no task
// if each result is one aligned interval of an operand: its shards are views in
// the storage of the operand.
//
// FailedPrecondition if partition or choose_kernels has not run; Unimplemented
// for a resharding of too many blocks.
absl::Status ListTasks(PlanDraft& draft, const Machine& machine,
                       PortStreams ports);

// True if a feed or fetch has such a stream of its own.
bool HasPortStreams(const PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_TASKS_H_
