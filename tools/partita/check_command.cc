// partita check: proves a plan, or reports its faults.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "nlohmann/json.hpp"
#include "runtime/plan/checker/prove_plan.h"
#include "tools/partita/json_text.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"text", nullptr, "also print the plan as text"},
    {"json", nullptr, "report as JSON"},
};

// Each line begins with `start`.
std::string Verdict(const Plan& plan, const Certificate& certificate,
                    absl::string_view start) {
  std::string text = absl::StrCat(start, "plan @", plan.name, ": proved by ",
                                  certificate.checker, "\n");
  for (const std::string& line : certificate.proved) {
    absl::StrAppend(&text, start, "proved  ", line, "\n");
  }
  for (const std::string& line : certificate.assumed) {
    absl::StrAppend(&text, start, "assumed ", line, "\n");
  }
  return text;
}

std::string Json(const Plan& plan, const Certificate& certificate) {
  const nlohmann::ordered_json json = {{"plan", plan.name},
                                       {"checker", certificate.checker},
                                       {"proved", certificate.proved},
                                       {"assumed", certificate.assumed}};
  return JsonText(json);
}

absl::Status Run(const Arguments& arguments) {
  if (arguments.has("text") && arguments.has("json")) {
    return CalledWrongly(
        "check: found --text with --json; expected one of them");
  }
  Progress progress("check");
  progress.Stage("read");
  PARTITA_ASSIGN_OR_RETURN(const Plan plan,
                           ReadPlanInput(arguments.positional()[0]));
  if (arguments.has("text")) {
    progress.Done();
    PARTITA_RETURN_IF_ERROR(WriteText("-", PlanText(plan)));
  }
  progress.Stage("prove");
  PARTITA_ASSIGN_OR_RETURN(const Certificate certificate, ProvePlan(plan));
  progress.Done();
  if (arguments.has("json")) return WriteText("-", Json(plan, certificate));
  // After the plan's text, it must not break the text as a plan.
  return WriteText(
      "-", Verdict(plan, certificate, arguments.has("text") ? "// " : ""));
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
    .operand = "plan",
    .reads = kPlanFiles,
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
