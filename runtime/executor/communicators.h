// The communicators of an entry's groups.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_COMMUNICATORS_H_
#define PARTITA_RUNTIME_EXECUTOR_COMMUNICATORS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executor/communications.h"
#include "runtime/executor/communicator.h"
#include "runtime/executor/session_memory.h"
#include "runtime/plan/plan.h"

namespace partita {

// By device: the transport of collectives among devices that have the same one.
// Groups with several transports, and all if there are none, use host memory.
using Transports = std::vector<CommunicatorMaker>;

// Thread safety: see Communicator.
class Communicators {
 public:
  static absl::StatusOr<Communicators> New(const Entry& entry,
                                           const CommandList& commands,
                                           const Communications& communications,
                                           const Devices& devices,
                                           const Transports& transports);

  Communicator& of(GroupId group) const { return *by_group_[group.index]; }
  void Interrupt();
  // The state after `steps` good steps.
  void ResumeAt(uint64_t steps);

 private:
  std::vector<std::unique_ptr<Communicator>> by_group_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_COMMUNICATORS_H_
