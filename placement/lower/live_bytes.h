// Counts live bytes, task by task, in any order of the tasks.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_LIVE_BYTES_H_
#define PARTITA_PLACEMENT_LOWER_LIVE_BYTES_H_

#include <cstdint>
#include <vector>

#include "placement/lower/plan_draft.h"

namespace partita {

// A storage of the step part is live from the first task that accesses it to
// the last. Tasks run one at a time, each once. The count is that of this
// order: unlike live_ranges.h it ignores what streams do at the same time.
class LiveBytes {
 public:
  explicit LiveBytes(const PlanDraft& draft);

  // The bytes that running the task now would allocate less those it would
  // free.
  int64_t Growth(TaskId task) const;
  // The task starts: what it accesses first is allocated.
  void Start(TaskId task);
  // The task has ended: what it accesses last is freed.
  void End(TaskId task);

  // Now.
  int64_t bytes(MachineDeviceId device) const { return bytes_[device]; }
  bool is_live(StorageId storage) const { return live_[storage]; }
  // The most so far on any one device.
  int64_t peak() const { return peak_; }

 private:
  const PlanDraft& draft_;
  // The storages of the step part that each task accesses, ascending.
  IdVector<TaskId, std::vector<StorageId>> accessed_;
  IdVector<StorageId, int> pending_;  // tasks that have not ended
  IdVector<StorageId, bool> live_;
  IdVector<MachineDeviceId, int64_t> bytes_;
  int64_t peak_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LIVE_BYTES_H_
