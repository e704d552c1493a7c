// Makes, selects and restores sessions for the C API.
// SPDX-License-Identifier: Apache-2.0

#include "partita/session.h"

#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "partita/c_api.h"
#include "partita/c_api/border.h"
#include "partita/c_api/plan_handle.h"
#include "partita/c_api/session_handle.h"
#include "partita/c_api/versioned_struct.h"

namespace partita::c_api {
namespace {

using absl::StatusOr;

constexpr char kOptions[] = "partita_session_options";

StatusOr<DeviceMode> ModeOf(int32_t devices) {
  switch (devices) {
    case PARTITA_DEVICES_REAL:
      return DeviceMode::kReal;
    case PARTITA_DEVICES_VIRTUAL:
      return DeviceMode::kVirtual;
    case PARTITA_DEVICES_TIMED:
      return DeviceMode::kTimed;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("devices: found ", devices,
                       "; expected PARTITA_DEVICES_REAL, "
                       "PARTITA_DEVICES_VIRTUAL or PARTITA_DEVICES_TIMED"));
  }
}

// A plan that this process compiled has only code that it made.
absl::Status RefuseCode(const partita_plan& plan) {
  if (plan.compiled != nullptr || plan.contents().code_objects.empty()) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "plan @", plan.contents().name,
      ": found native code, which is not trusted; expected none with "
      "PARTITA_CODE_REFUSE; let it be built again "
      "(PARTITA_CODE_BUILD_AGAIN), or trust it (PARTITA_CODE_TRUST)"));
}

// True if the plan's code is trusted.
StatusOr<bool> TrustOf(int32_t code, const partita_plan& plan) {
  switch (code) {
    case PARTITA_CODE_BUILD_AGAIN:
      return false;
    case PARTITA_CODE_TRUST:
      return true;
    case PARTITA_CODE_REFUSE:
      PARTITA_RETURN_IF_ERROR(RefuseCode(plan));
      return false;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("code: found ", code,
                       "; expected PARTITA_CODE_BUILD_AGAIN, "
                       "PARTITA_CODE_TRUST or PARTITA_CODE_REFUSE"));
  }
}

StatusOr<LoadOptions> ReadOptions(const partita_session_options* given,
                                  const partita_plan& plan) {
  partita_session_options read = partita_session_options_default();
  if (given != nullptr) {
    PARTITA_ASSIGN_OR_RETURN(read, ReadStruct(given, kOptions));
  }
  LoadOptions options;
  PARTITA_ASSIGN_OR_RETURN(options.devices, ModeOf(read.devices));
  PARTITA_ASSIGN_OR_RETURN(options.trust_code, TrustOf(read.code, plan));
  PARTITA_ASSIGN_OR_RETURN(const bool copies,
                           ReadFlag(read.copy_constants, "copy_constants"));
  options.constants_in_place = !copies;
  if (read.split_gpu != 0) options.split_gpu = read.split_gpu;
  return options;
}

StatusOr<std::unique_ptr<Session>> CreateSession(partita_plan& plan,
                                                 const LoadOptions& options) {
  if (plan.compiled == nullptr) return Session::Create(*plan.proved, options);
  // Proves the plan, by the hashes of its constants.
  const std::lock_guard lock(plan.hashing);
  return Session::Create(plan.compiled, options);
}

EntryBindings BindingsOf(const Entry& entry) {
  EntryBindings bindings;
  bindings.own_inputs.resize(entry.inputs.size());
  bindings.inputs.resize(entry.inputs.size());
  bindings.own_outputs.resize(entry.outputs.size());
  bindings.outputs.resize(entry.outputs.size());
  return bindings;
}

StatusOr<partita_session*> NewSession(partita_plan& plan,
                                      const LoadOptions& options) {
  auto session = std::make_unique<partita_session>();
  PARTITA_ASSIGN_OR_RETURN(session->session, CreateSession(plan, options));
  for (const Entry& entry : plan.contents().entries) {
    session->by_entry.push_back(BindingsOf(entry));
  }
  return session.release();
}

}  // namespace
}  // namespace partita::c_api

using absl::StatusOr;
using partita::LoadOptions;
using partita::c_api::AtBorder;
using partita::c_api::CheckGiven;
using partita::c_api::CheckHandle;
using partita::c_api::FreeHandle;
using partita::c_api::FromSession;
using partita::c_api::IsLive;
using partita::c_api::NewSession;
using partita::c_api::OnSession;
using partita::c_api::ReadOptions;
using partita::c_api::Return;

partita_code partita_session_new(partita_plan* plan,
                                 const partita_session_options* options,
                                 partita_session** session,
                                 partita_status* status) {
  return AtBorder(status, [&] {
    return Return(session, "session", [&]() -> StatusOr<partita_session*> {
      PARTITA_RETURN_IF_ERROR(CheckHandle(plan));
      PARTITA_ASSIGN_OR_RETURN(const LoadOptions load,
                               ReadOptions(options, *plan));
      return NewSession(*plan, load);
    });
  });
}

partita_code partita_session_free(partita_session* session) {
  if (session == nullptr) return PARTITA_OK;
  if (!IsLive(session)) return PARTITA_INVALID_HANDLE;
  if (session->busy.exchange(true)) return PARTITA_FAILED_PRECONDITION;
  return FreeHandle(session);
}

partita_code partita_session_notice(partita_session* session,
                                    const char** notice,
                                    partita_status* status) {
  return FromSession<const char*>(
      session, notice, "notice", status,
      [](partita_session& of) { return of.session->notice().c_str(); });
}

partita_code partita_session_use_entry(partita_session* session,
                                       const char* name,
                                       partita_status* status) {
  return OnSession(session, status, [name](partita_session& of) {
    PARTITA_RETURN_IF_ERROR(
        CheckGiven(name, "name", "one of the plan's entries"));
    return of.session->UseEntry(name);
  });
}

partita_code partita_session_depth(partita_session* session, int32_t* depth,
                                   partita_status* status) {
  return FromSession<int32_t>(
      session, depth, "depth", status,
      [](partita_session& of) { return of.session->depth(); });
}

partita_code partita_session_restore(partita_session* session,
                                     partita_status* status) {
  return OnSession(session, status,
                   [](partita_session& of) { return of.session->Restore(); });
}
