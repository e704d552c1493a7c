// Ends a step for all streams of its entry after a failure.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/entry_state.h"

#include <utility>

namespace partita {

void EntryState::Fail(const absl::Status& status, FailedCommand where) {
  if (!failure.Set(status, std::move(where))) return;
  for (const auto& event : *context.events) event->steps().Interrupt();
  context.communications->Interrupt();
  context.communicators->Interrupt();
}

}  // namespace partita
