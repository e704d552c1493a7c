// Runs something on emulated GPUs, and adds what they found.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "tools/partita/emulated_gpus.h"

namespace partita {

absl::Status OnEmulatedGpusIf(
    bool emulated, const Plan& plan, GpuSplit split,
    absl::FunctionRef<absl::Status(const std::string& notice)> run) {
  if (!emulated) return run("");
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<GpuEmulation> emulation,
                           EmulateGpusOf(plan, split));
  const absl::Status status = run(
      "software runs the commands of the GPUs, slowly: times are not theirs");
  const absl::Status findings = emulation->Findings();
  if (status.ok() || findings.ok()) return status.ok() ? findings : status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "\n", findings.message()));
}

std::string JoinNotices(const std::string& a, const std::string& b) {
  return absl::StrCat(a, a.empty() || b.empty() ? "" : "; ", b);
}

}  // namespace partita
