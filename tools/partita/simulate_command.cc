// partita simulate: the predicted timeline of a plan.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/status_macros.h"
#include "nlohmann/json.hpp"
#include "partita/options/input_files.h"
#include "partita/plan_prices.h"
#include "placement/simulate/predicted_timeline.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/checker/prove_plan.h"
#include "runtime/plan/chrome_trace.h"
#include "tools/partita/json_text.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/plan_machine.h"
#include "tools/partita/report_text.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

constexpr FlagDef kFlags[] = {
    {"machine", "FILE",
     "another machine than the plan was made for; the report then has no bound",
     nullptr, FileUse::kReads, false, nullptr, kMachineFiles},
    {"trace", "FILE", "write the timeline in Chrome's format", nullptr,
     FileUse::kWrites},
    {"json", nullptr, "report as JSON: for each entry, seconds"},
};

std::string BoundLine(const Simulation& simulation, const EntryNotes& notes) {
  return absl::StrCat(
      "  no plan takes less than ",
      BoundText(simulation.step_seconds, notes.bound_seconds, notes.bound_by),
      "\n");
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

void AddBound(const Simulation& simulation, const EntryNotes& notes,
              Json& json) {
  json["bound_seconds"] = notes.bound_seconds;
  json["bound_by"] = notes.bound_by;
  json["gap_percent"] =
      GapPercent(simulation.step_seconds, notes.bound_seconds);
}

Json EntryJson(const Plan& plan, const Simulation& simulation) {
  Json busy = Json::object();
  for (size_t i = 0; i < simulation.busy.size(); ++i) {
    busy[plan.devices[i].traits.name] = simulation.busy[i];
  }
  return {{"step_seconds", simulation.step_seconds},
          {"latency_seconds", simulation.latency_seconds},
          {"busy_seconds", busy}};
}

absl::Status Run(const Arguments& arguments) {
  Progress progress("simulate");
  progress.Stage("read");
  PARTITA_ASSIGN_OR_RETURN(const Plan plan,
                           ReadPlanInput(arguments.positional()[0]));
  InputFiles inputs(arguments, kFlags);
  inputs.AddWeights(plan.module.literals());
  PARTITA_RETURN_IF_ERROR(inputs.Keep());
  progress.Stage("prove");
  PARTITA_RETURN_IF_ERROR(ProvePlan(plan).status());
  PARTITA_ASSIGN_OR_RETURN(
      const PlanMachine machine,
      ReadPlanMachine(plan, arguments.positional()[0], arguments));
  progress.Stage("simulate");
  std::vector<Timeline> timelines;
  std::string text;
  Json json = Json::object();
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    PARTITA_ASSIGN_OR_RETURN(const std::vector<double> seconds,
                             NodeSecondsOf(plan, e, machine));
    PARTITA_ASSIGN_OR_RETURN(
        const Simulation simulation,
        Simulate(plan, static_cast<int>(e), machine.machine, seconds));
    const std::string& name = plan.entries[e].name;
    absl::StrAppend(&text, "entry ", name, ": ", Summary(plan, simulation));
    json[name] = EntryJson(plan, simulation);
    if (const EntryNotes* notes = NotesOf(plan, e, machine)) {
      text += BoundLine(simulation, *notes);
      AddBound(simulation, *notes, json[name]);
    }
    PARTITA_ASSIGN_OR_RETURN(
        Timeline timeline,
        PredictedTimeline(plan, static_cast<int>(e), simulation));
    timelines.push_back(std::move(timeline));
  }
  if (arguments.has("trace")) {
    PARTITA_RETURN_IF_ERROR(
        WriteText(arguments.Get("trace", ""), ChromeTraceJson(timelines)));
  }
  progress.Done();
  if (!arguments.has("json")) return WriteText("-", text);
  return WriteText("-", JsonText(json));
}

}  // namespace

const Subcommand kSimulateCommand = {
    .name = "simulate",
    .usage = "simulate PLAN [--trace FILE]",
    .doc =
        "Predicts when every command of a plan runs.\n"
        "Works for machines that are not here: rates and links come from the "
        "machine\nfile that the plan was made for, or from --machine. The gap "
        "is the share of the\nstep that the best of all plans may save.",
    .operand = "plan",
    .reads = kPlanFiles,
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
