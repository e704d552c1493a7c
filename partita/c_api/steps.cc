// Steps of a session of the C API.
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"
#include "partita/c_api.h"
#include "partita/c_api/cancel_handle.h"
#include "partita/c_api/session_handle.h"
#include "partita/c_api/versioned_struct.h"

namespace partita::c_api {
namespace {

using absl::StatusOr;

constexpr char kOptions[] = "partita_run_options";

// 30 years; far from the end of steady_clock.
constexpr int64_t kMostMilliseconds = 1'000'000'000'000;

absl::Status SetDeadline(int64_t timeout_ms, RunOptions& options) {
  if (timeout_ms < 0 || timeout_ms > kMostMilliseconds) {
    return absl::InvalidArgumentError(absl::StrCat(
        "timeout_ms: found ", timeout_ms, "; expected 0..", kMostMilliseconds));
  }
  if (timeout_ms == 0) return absl::OkStatus();
  options.deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  return absl::OkStatus();
}

StatusOr<RunOptions> ReadOptions(const partita_run_options* given) {
  RunOptions options;
  if (given == nullptr) return options;
  PARTITA_ASSIGN_OR_RETURN(const partita_run_options read,
                           ReadStruct(given, kOptions));
  if (read.reserved != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("reserved: found ", read.reserved, "; expected 0"));
  }
  PARTITA_ASSIGN_OR_RETURN(options.trace, ReadFlag(read.trace, "trace"));
  PARTITA_RETURN_IF_ERROR(SetDeadline(read.timeout_ms, options));
  if (read.cancel != nullptr) {
    PARTITA_RETURN_IF_ERROR(CheckHandle(read.cancel));
    options.cancel = read.cancel->source.get_token();
  }
  return options;
}

absl::Status CheckInputs(partita_session& of) {
  const Session& session = *of.session;
  const std::vector<const void*>& inputs = of.bindings().inputs;
  for (int i = 0; i < session.num_inputs(); ++i) {
    const bool is_given = inputs[static_cast<size_t>(i)] != nullptr;
    if (is_given || session.input_type(i).num_bytes() == 0) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "input ", NameText(session.input_name(i)),
        ": found no value; expected one; call partita_session_set_input or "
        "partita_session_bind_input before"));
  }
  return absl::OkStatus();
}

// Steps in flight must not write to the same memory.
absl::Status CheckOutputsBound(partita_session& of) {
  const Session& session = *of.session;
  const EntryBindings& bindings = of.bindings();
  if (session.depth() == 1) return absl::OkStatus();
  for (int i = 0; i < session.num_outputs(); ++i) {
    const auto output = static_cast<size_t>(i);
    const void* const memory = bindings.outputs[output];
    const bool is_bound =
        memory != nullptr && memory != bindings.own_outputs[output].bytes();
    if (is_bound || session.output_type(i).num_bytes() == 0) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("output ", NameText(session.output_name(i)),
                     ": found no binding, and up to ", session.depth(),
                     " steps in flight; expected memory of the caller; call "
                     "partita_session_bind_output before each step"));
  }
  return absl::OkStatus();
}

// The session itself never has memory for outputs.
absl::Status GiveOutputsMemory(partita_session& of) {
  for (int i = 0; i < of.session->num_outputs(); ++i) {
    PARTITA_RETURN_IF_ERROR(MemoryOfOutput(of, i).status());
  }
  return absl::OkStatus();
}

absl::Status Run(partita_session& of, const partita_run_options* given) {
  PARTITA_ASSIGN_OR_RETURN(const RunOptions options, ReadOptions(given));
  PARTITA_RETURN_IF_ERROR(CheckIdle(of));
  PARTITA_RETURN_IF_ERROR(CheckInputs(of));
  PARTITA_RETURN_IF_ERROR(GiveOutputsMemory(of));
  of.traced_entry.reset();
  PARTITA_RETURN_IF_ERROR(of.session->Run(options));
  if (options.trace) of.traced_entry = of.session->entry();
  return absl::OkStatus();
}

StatusOr<uint64_t> Submit(partita_session& of,
                          const partita_run_options* given) {
  PARTITA_ASSIGN_OR_RETURN(const RunOptions options, ReadOptions(given));
  PARTITA_RETURN_IF_ERROR(CheckInputs(of));
  PARTITA_RETURN_IF_ERROR(CheckOutputsBound(of));
  PARTITA_RETURN_IF_ERROR(GiveOutputsMemory(of));
  of.in_flight.reserve(of.in_flight.size() + 1);  // before the step starts
  const EntryBindings& bindings = of.bindings();
  PARTITA_ASSIGN_OR_RETURN(
      const uint64_t number,
      of.session->Submit(bindings.inputs, bindings.outputs, options));
  of.in_flight.push_back({number, of.session->entry(), options.trace});
  return number;
}

absl::Status Wait(partita_session& of, uint64_t number) {
  std::vector<StepInFlight>& in_flight = of.in_flight;
  if (in_flight.empty() || in_flight.front().number != number) {
    return absl::FailedPreconditionError(absl::StrCat(
        "session: found a wait for step ", number,
        "; expected the oldest in flight, ",
        in_flight.empty() ? "but there is none"
                          : absl::StrCat(in_flight.front().number)));
  }
  const absl::Status ended = of.session->Wait(number);
  const StepInFlight step = in_flight.front();
  in_flight.erase(in_flight.begin());
  of.traced_entry.reset();
  if (ended.ok() && step.trace) of.traced_entry = step.entry;
  return ended;
}

}  // namespace
}  // namespace partita::c_api

using partita::c_api::FromSession;
using partita::c_api::OnSession;

partita_code partita_session_run(partita_session* session,
                                 const partita_run_options* options,
                                 partita_status* status) {
  return OnSession(session, status, [options](partita_session& of) {
    return partita::c_api::Run(of, options);
  });
}

partita_code partita_session_submit(partita_session* session,
                                    const partita_run_options* options,
                                    uint64_t* step, partita_status* status) {
  return FromSession<uint64_t>(session, step, "step", status,
                               [options](partita_session& of) {
                                 return partita::c_api::Submit(of, options);
                               });
}

partita_code partita_session_wait(partita_session* session, uint64_t step,
                                  partita_status* status) {
  return OnSession(session, status, [step](partita_session& of) {
    return partita::c_api::Wait(of, step);
  });
}
