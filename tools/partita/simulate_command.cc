// partita simulate: the predicted timeline of a plan.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/status_macros.h"
#include "partita/catalogs.h"
#include "placement/simulate/command_cost.h"
#include "placement/simulate/predicted_timeline.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/checker/prove_plan.h"
#include "runtime/plan/chrome_trace.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/report_text.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"machine", "FILE", "another machine than the plan was made for"},
    {"trace", "FILE", "write the timeline in Chrome's format"},
};

absl::StatusOr<Machine> MachineOf(const Plan& plan,
                                  const Arguments& arguments) {
  if (arguments.has("machine")) {
    return ReadMachine(arguments.Get("machine", ""));
  }
  if (plan.notes.has_value() && !plan.notes->machine_json.empty()) {
    return ParseMachine(plan.notes->machine_json, "the plan's notes");
  }
  return absl::InvalidArgumentError(
      "found no machine in the plan's notes; expected one: give --machine "
      "FILE");
}

std::string Summary(const Plan& plan, const Simulation& simulation) {
  std::string text =
      absl::StrCat("step ", SecondsText(simulation.step_seconds), ", latency ",
                   SecondsText(simulation.latency_seconds), "\n");
  for (size_t i = 0; i < simulation.busy.size(); ++i) {
    const double share = simulation.step_seconds == 0
                             ? 0
                             : simulation.busy[i] / simulation.step_seconds;
    absl::StrAppendFormat(&text, "  %-8s busy %s (%.0f %%)\n",
                          plan.devices[i].traits.name,
                          SecondsText(simulation.busy[i]), 100 * share);
  }
  return text;
}

absl::Status Run(const Arguments& arguments) {
  if (arguments.positional().size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("simulate: found ", arguments.positional().size(),
                     " plans; expected one; name a plan file or a plan as "
                     "text"));
  }
  PARTITA_ASSIGN_OR_RETURN(const Plan plan,
                           ReadPlanInput(arguments.positional()[0]));
  PARTITA_RETURN_IF_ERROR(ProvePlan(plan).status());
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, MachineOf(plan, arguments));
  std::vector<Timeline> timelines;
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    const std::vector<double> seconds =
        PlacedNodeSeconds(*plan.entries[e].graph, machine, BuiltInCatalog());
    PARTITA_ASSIGN_OR_RETURN(
        const Simulation simulation,
        Simulate(plan, static_cast<int>(e), machine, seconds));
    PARTITA_RETURN_IF_ERROR(
        WriteText("-", absl::StrCat("entry ", plan.entries[e].name, ": ",
                                    Summary(plan, simulation))));
    PARTITA_ASSIGN_OR_RETURN(
        Timeline timeline,
        PredictedTimeline(plan, static_cast<int>(e), simulation));
    timelines.push_back(std::move(timeline));
  }
  if (!arguments.has("trace")) return absl::OkStatus();
  return WriteText(arguments.Get("trace", ""), ChromeTraceJson(timelines));
}

}  // namespace

const Subcommand kSimulateCommand = {
    .name = "simulate",
    .usage = "simulate PLAN [--trace FILE]",
    .doc =
        "Predicts when every command of a plan runs.\n"
        "Works for machines that are not here: rates and links come from the "
        "machine\nfile that the plan was made for, or from --machine.",
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
