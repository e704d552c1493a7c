// Writes the trace of a step.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/atomic_file.h"
#include "graph/status_macros.h"
#include "partita/c_api.h"
#include "partita/c_api/session_handle.h"
#include "runtime/plan/plan.h"

namespace partita::c_api {
namespace {

absl::Status CheckTraced(const partita_session& of) {
  const Session& session = *of.session;
  if (!of.traced_entry.has_value()) {
    return absl::FailedPreconditionError(
        "session: found no trace; expected one of the last step; run it with "
        "partita_run_options.trace = 1");
  }
  if (*of.traced_entry == session.entry()) return absl::OkStatus();
  const auto& entries = session.plan().entries;
  return absl::FailedPreconditionError(
      absl::StrCat("session: found a trace of entry @",
                   entries[static_cast<size_t>(*of.traced_entry)].name,
                   "; expected one of entry @",
                   entries[static_cast<size_t>(session.entry())].name,
                   ", which is in use; call partita_session_use_entry first"));
}

absl::Status WriteTrace(const partita_session& of, const char* path) {
  PARTITA_RETURN_IF_ERROR(CheckGiven(path, "path", "the name of a file"));
  PARTITA_RETURN_IF_ERROR(CheckIdle(of));
  PARTITA_RETURN_IF_ERROR(CheckTraced(of));
  PARTITA_ASSIGN_OR_RETURN(const std::string text, of.session->LastTraceJson());
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  PARTITA_RETURN_IF_ERROR(file->WriteText(text));
  return file->Commit();
}

}  // namespace
}  // namespace partita::c_api

partita_code partita_session_write_trace(partita_session* session,
                                         const char* path,
                                         partita_status* status) {
  return partita::c_api::OnSession(
      session, status, [path](const partita_session& of) {
        return partita::c_api::WriteTrace(of, path);
      });
}
