// Runs something on emulated GPUs, and adds what they found.
// SPDX-License-Identifier: Apache-2.0

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/status_macros.h"
#include "tools/partita/emulated_gpus.h"

namespace partita {

absl::Status OnEmulatedGpusIf(
    bool emulated, const Plan& plan, GpuSplit split,
    absl::FunctionRef<absl::Status(const std::string& notice)> run) {
  if (!emulated) return run("");
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<GpuEmulation> emulation,
                           EmulateGpusOf(plan, split));
  const bool has_gpus = absl::c_any_of(plan.devices, [](const auto& device) {
    return !RunsHostCode(device.traits);
  });
  const absl::Status status = run(
      has_gpus
          ? "software runs the commands of the GPUs, slowly: times are not "
            "theirs"
          : "the plan uses no GPU, so none is emulated: place nodes on one, "
            "for example with --device gpu:0");
  const absl::Status findings = emulation->Findings();
  if (status.ok() || findings.ok()) return status.ok() ? findings : status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "\n", findings.message()));
}

std::string JoinNotices(const std::string& a, const std::string& b) {
  return absl::StrCat(a, a.empty() || b.empty() ? "" : "; ", b);
}

}  // namespace partita
