// partita check: proves a plan, or names its flaws.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/plan/checker/prove_plan.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"text", nullptr, "also print the plan as text"},
};

std::string Lines(const char* heading, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    absl::StrAppend(&text, heading, " ", line, "\n");
  }
  return text;
}

absl::Status Run(const Arguments& arguments) {
  if (arguments.positional().size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("check: found ", arguments.positional().size(),
                     " plans; expected one; name a plan file or a plan as "
                     "text"));
  }
  PARTITA_ASSIGN_OR_RETURN(
      const Plan plan,
      ReadPlanInput(arguments.positional()[0], {.verify_hashes = true}));
  if (arguments.has("text")) {
    PARTITA_RETURN_IF_ERROR(WriteText("-", PlanText(plan)));
  }
  PARTITA_ASSIGN_OR_RETURN(const Certificate certificate, ProvePlan(plan));
  return WriteText("-", absl::StrCat("plan @", plan.name, ": proved by ",
                                     certificate.checker, "\n",
                                     Lines("proved ", certificate.proved),
                                     Lines("assumed", certificate.assumed)));
}

}  // namespace

const Subcommand kCheckCommand = {
    .name = "check",
    .usage = "check PLAN",
    .doc =
        "Proves a plan free of races and deadlocks and within memory.\n"
        "PLAN is a plan file, or a plan as text. A plan that cannot be "
        "proved is refused\nwith the two commands, the bytes and the event "
        "that is missing; so is one that was\nchanged after it was certified.",
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
