// What a partita_session refers to.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_SESSION_HANDLE_H_
#define PARTITA_PARTITA_C_API_SESSION_HANDLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/host_tensor.h"
#include "graph/status_macros.h"
#include "partita/c_api.h"
#include "partita/c_api/border.h"
#include "partita/c_api/handle_mark.h"
#include "partita/session.h"

namespace partita::c_api {

// The memory of an entry's inputs and outputs, by port. A pointer is null while
// nothing is set or bound.
//
//   1. The session's inputs and outputs are bound to the pointers that are not
//      null.
//   2. inputs[i] points to own_inputs[i] if the input was set; so for outputs
//      that the caller has not bound.
struct EntryBindings {
  std::vector<HostTensor> own_inputs;
  std::vector<HostTensor> own_outputs;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

struct StepInFlight {
  uint64_t number = 0;
  int entry = 0;
  bool trace = false;
};

}  // namespace partita::c_api

struct partita_session {  // NOLINT(readability-identifier-naming)
  static constexpr auto kKind = partita::c_api::HandleKind::kSession;
  static constexpr char kName[] = "session";

  partita::c_api::EntryBindings& bindings() {
    return by_entry[static_cast<size_t>(session->entry())];
  }

  partita::c_api::HandleMark mark{kKind};
  std::atomic<bool> busy{false};  // a call is at work
  std::vector<partita::c_api::EntryBindings> by_entry;
  std::vector<partita::c_api::StepInFlight> in_flight;  // the oldest first
  // The entry of the last step that ended, if it has a trace.
  std::optional<int> traced_entry;
  // Destroyed first: it ends the steps that use the memory above.
  std::unique_ptr<partita::Session> session;
};

namespace partita::c_api {

// The body of every function of a session: refuses a second call at once, and
// handles that are not live.
partita_code OnSession(
    partita_session* session, partita_status* status,
    absl::FunctionRef<absl::Status(partita_session&)> body) noexcept;

// The same for calls that return what `read` returns.
template <typename Result>
partita_code FromSession(
    partita_session* session, Result* result, absl::string_view name,
    partita_status* status,
    absl::FunctionRef<absl::StatusOr<Result>(partita_session&)> read) {
  return OnSession(session, status, [&](partita_session& of) {
    return Return(result, name, [&] { return read(of); });
  });
}

// FailedPrecondition while steps are in flight.
absl::Status CheckIdle(const partita_session& session);

// The output's memory, its own if it is not bound.
absl::StatusOr<void*> MemoryOfOutput(partita_session& session, int output);

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_SESSION_HANDLE_H_
