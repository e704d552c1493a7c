// Reads --machine, or the plan's notes.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/plan_machine.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/machine/machine.h"

namespace partita {
namespace {

absl::StatusOr<PlanMachine> ReadEither(const Plan& plan,
                                       const std::string& path,
                                       const Arguments& arguments) {
  if (arguments.has("machine")) {
    PARTITA_ASSIGN_OR_RETURN(Machine machine,
                             ReadMachine(arguments.Get("machine", "")));
    return PlanMachine{std::move(machine)};
  }
  PARTITA_ASSIGN_OR_RETURN(std::optional<PlanMachine> own, OwnMachine(plan));
  if (own.has_value()) return *std::move(own);
  return CalledWrongly(absl::StrCat(
      path,
      ": found no machine in the plan, and plans as text have none; "
      "expected --machine FILE with it"));
}

}  // namespace

absl::StatusOr<PlanMachine> ReadPlanMachine(const Plan& plan,
                                            const std::string& path,
                                            const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(PlanMachine machine,
                           ReadEither(plan, path, arguments));
  PARTITA_RETURN_IF_ERROR(CheckHasDevices(plan, machine.machine));
  return machine;
}

}  // namespace partita
