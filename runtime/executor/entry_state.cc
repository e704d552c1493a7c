// Ends a step for all streams of its entry after a failure.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/entry_state.h"

#include <utility>

namespace partita {

namespace {

void Interrupt(const EntryContext& context) {
  for (const auto& event : *context.events) event->steps().Interrupt();
  context.communications->Interrupt();
  context.communicators->Interrupt();
}

}  // namespace

void EntryState::Fail(const absl::Status& status, FailedCommand where) {
  if (failure.Set(status, std::move(where))) Interrupt(context);
}

void EntryState::FailAtCall(const absl::Status& status, FailedCommand where,
                            CommandId end) {
  if (!absl::IsUnavailable(status)) return Fail(status, std::move(where));
  if (failure.SetUnnamed(WithEarlierSuspects(status), std::move(where), end)) {
    Interrupt(context);
  }
}

}  // namespace partita
