// partita diff: what differs between two plans.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "graph/status_macros.h"
#include "partita/options/input_files.h"
#include "partita/plan_diff.h"
#include "runtime/plan/checker/prove_plan.h"
#include "tools/partita/diff_text.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/plan_machine.h"
#include "tools/partita/subcommand.h"
#include "tools/partita/viewed_plan.h"
#include "tools/viewer/diff_view.h"
#include "tools/viewer/html_page.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"machine", "FILE",
     "the machine of both plans; default: the one that each was made for",
     nullptr, FileUse::kReads, false, nullptr, kMachineFiles},
    {"page", "FILE", "also write both plans side by side, as an HTML page",
     nullptr, FileUse::kWrites},
    {"json", nullptr, "report as JSON"},
};

// A plan and the machine of its figures.
struct PricedPlan {
  Plan plan;
  PlanMachine machine;
};

absl::StatusOr<PricedPlan> ReadPricedPlan(const std::string& path,
                                          const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(Plan plan, ReadPlanInput(path));
  PARTITA_RETURN_IF_ERROR(ProvePlan(plan).status());
  PARTITA_ASSIGN_OR_RETURN(PlanMachine machine,
                           ReadPlanMachine(plan, path, arguments));
  return PricedPlan{std::move(plan), std::move(machine)};
}

absl::Status WritePage(const PricedPlan& a, const PricedPlan& b,
                       const PlanDiff& diff, const Arguments& arguments) {
  InputFiles inputs(arguments, kFlags);
  inputs.AddWeights(a.plan.module.literals());
  inputs.AddWeights(b.plan.module.literals());
  PARTITA_RETURN_IF_ERROR(inputs.Keep());
  PARTITA_ASSIGN_OR_RETURN(const PlanView view_a,
                           ReadPredictedView(a.plan, a.machine));
  PARTITA_ASSIGN_OR_RETURN(const PlanView view_b,
                           ReadPredictedView(b.plan, b.machine));
  return WriteText(
      arguments.Get("page", ""),
      DiffPage(view_a, view_b,
               ReadDiffView(a.plan, view_a, b.plan, view_b, diff)));
}

absl::Status CheckOutputs(const Arguments& arguments) {
  if (arguments.Get("page", "") != "-") return absl::OkStatus();
  return CalledWrongly(
      "--page: found -, where the report goes; expected the name of a file");
}

absl::Status Run(const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(CheckOutputs(arguments));
  Progress progress("diff");
  progress.Stage("read");
  PARTITA_ASSIGN_OR_RETURN(
      const PricedPlan a, ReadPricedPlan(arguments.positional()[0], arguments));
  PARTITA_ASSIGN_OR_RETURN(
      const PricedPlan b, ReadPricedPlan(arguments.positional()[1], arguments));
  progress.Stage("compare");
  PARTITA_ASSIGN_OR_RETURN(const PlanDiff diff,
                           DiffPlans(a.plan, a.machine, b.plan, b.machine));
  if (arguments.has("page")) {
    progress.Stage("write the page");
    PARTITA_RETURN_IF_ERROR(WritePage(a, b, diff, arguments));
  }
  progress.Done();
  return WriteText("-",
                   arguments.has("json") ? DiffJson(diff) : DiffText(diff));
}

}  // namespace

const Subcommand kDiffCommand = {
    .name = "diff",
    .usage = "diff PLAN PLAN [--page FILE.html]",
    .doc =
        "Compares two plans: what moved, and what that changes.\n"
        "Shows step, transfers, critical path and memory of both, nodes on "
        "other devices,\nand nodes whose results may differ in their last bits "
        "as another arithmetic\ncomputes them. Pairs nodes by name, or by what "
        "they compute from what. Each plan\nis predicted for the machine that "
        "it was made for, or for that of --machine.",
    .operand = "plan",
    .reads = kPlanFiles,
    .second_operand = "other plan",
    .second_reads = kPlanFiles,
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
