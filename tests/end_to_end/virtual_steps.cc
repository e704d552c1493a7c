// Sessions of virtual devices, and comparisons of their outputs.
// SPDX-License-Identifier: Apache-2.0

#include "tests/end_to_end/virtual_steps.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "tools/partita/compare.h"

namespace partita {

absl::StatusOr<std::unique_ptr<Session>> VirtualSession(
    std::shared_ptr<const Plan> plan, absl::Span<const HostTensor> inputs) {
  PARTITA_ASSIGN_OR_RETURN(
      std::unique_ptr<Session> session,
      Session::Create(std::move(plan), {.devices = DeviceMode::kVirtual}));
  for (size_t i = 0; i < inputs.size(); ++i) {
    PARTITA_RETURN_IF_ERROR(session->SetInput(static_cast<int>(i), inputs[i]));
  }
  return session;
}

absl::StatusOr<std::vector<HostTensor>> StepOutputs(Session& session,
                                                    const RunOptions& options) {
  PARTITA_RETURN_IF_ERROR(session.Run(options));
  std::vector<HostTensor> outputs;
  for (int i = 0; i < session.num_outputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* tensor, session.GetOutput(i));
    outputs.push_back(tensor->Clone());
  }
  return outputs;
}

absl::StatusOr<VirtualRun> RunVirtually(Plan plan,
                                        absl::Span<const HostTensor> inputs) {
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Session> session,
      VirtualSession(std::make_shared<const Plan>(std::move(plan)), inputs));
  VirtualRun run;
  PARTITA_ASSIGN_OR_RETURN(run.reference, session->RunReference());
  PARTITA_ASSIGN_OR_RETURN(run.outputs, StepOutputs(*session));
  return run;
}

absl::Status SameBits(absl::Span<const HostTensor> found,
                      absl::Span<const HostTensor> expected) {
  if (found.size() != expected.size()) {
    return absl::InternalError(absl::StrCat(
        "found ", found.size(), " outputs; expected ", expected.size()));
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const Difference difference = Compare(found[i], expected[i], 0, 0);
    if (difference.same_bits) continue;
    return absl::InternalError(absl::StrCat(
        "output ", i, ": found other bits, ", difference.absolute,
        " apart at element ", difference.worst, " ", difference.problem));
  }
  return absl::OkStatus();
}

absl::Status Close(absl::Span<const HostTensor> found,
                   absl::Span<const HostTensor> expected, double rtol,
                   double atol) {
  if (found.size() != expected.size()) {
    return absl::InternalError(absl::StrCat(
        "found ", found.size(), " outputs; expected ", expected.size()));
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const Difference difference = Compare(found[i], expected[i], rtol, atol);
    if (difference.within) continue;
    return absl::InternalError(absl::StrCat(
        "output ", i, ": found ", difference.absolute, " absolute, ",
        difference.relative, " relative difference, worst at element ",
        difference.worst, " ", difference.problem));
  }
  return absl::OkStatus();
}

}  // namespace partita
