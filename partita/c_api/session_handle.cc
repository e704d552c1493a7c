// One call at a time on a session, and the memory of its ports.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/session_handle.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/executor/busy_guard.h"

namespace partita::c_api {

partita_code OnSession(
    partita_session* session, partita_status* status,
    absl::FunctionRef<absl::Status(partita_session&)> body) noexcept {
  return AtBorder(status, [&]() -> absl::Status {
    PARTITA_RETURN_IF_ERROR(CheckHandle(session));
    const BusyGuard call(session->busy);
    PARTITA_RETURN_IF_ERROR(call.status());
    return body(*session);
  });
}

absl::Status CheckIdle(const partita_session& session) {
  if (session.in_flight.empty()) return absl::OkStatus();
  const size_t steps = session.in_flight.size();
  return absl::FailedPreconditionError(
      absl::StrCat("session: found ", steps, steps == 1 ? " step" : " steps",
                   " in flight; expected none; wait for step ",
                   session.in_flight.front().number, " first"));
}

absl::StatusOr<void*> MemoryOfOutput(partita_session& session, int output) {
  EntryBindings& bindings = session.bindings();
  const auto index = static_cast<size_t>(output);
  void*& memory = bindings.outputs[index];
  if (memory != nullptr) return memory;
  HostTensor own(session.session->output_type(output).RowMajor());
  PARTITA_RETURN_IF_ERROR(session.session->BindOutput(output, own.bytes()));
  memory = own.bytes();
  bindings.own_outputs[index] = std::move(own);
  return memory;
}

}  // namespace partita::c_api
