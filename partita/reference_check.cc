// Compares bytes.
// SPDX-License-Identifier: Apache-2.0

#include "partita/reference_check.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/graph.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan.h"

namespace partita {
namespace {

absl::Status CheckSameBits(const std::string& what, int64_t step,
                           const HostTensor& actual,
                           const HostTensor& reference) {
  if (actual.type() == reference.type() &&
      absl::c_equal(actual.byte_span(), reference.byte_span())) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrCat(what, " of step ", step, ": found other bits than the ",
                   "plan's reference has; expected equal"));
}

}  // namespace

absl::StatusOr<ReferenceCheck> ReferenceCheck::Of(Session& session) {
  PARTITA_ASSIGN_OR_RETURN(std::vector<HostTensor> expected,
                           session.RunReference());
  return ReferenceCheck(session, std::move(expected));
}

absl::Status ReferenceCheck::Compare(int64_t step) const {
  auto expected = expected_.begin();
  for (int i = 0; i < session_->num_outputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* actual, session_->GetOutput(i));
    PARTITA_RETURN_IF_ERROR(
        CheckSameBits(absl::StrCat("output ", session_->output_name(i)), step,
                      *actual, *expected++));
  }
  const Entry& entry = session_->plan().entries[session_->entry()];
  for (const VariableUpdate& update : entry.graph->updates()) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor actual,
                             session_->ReadVariable(update.variable));
    PARTITA_RETURN_IF_ERROR(
        CheckSameBits(absl::StrCat("variable @", update.variable), step, actual,
                      *expected++));
  }
  return absl::OkStatus();
}

}  // namespace partita
