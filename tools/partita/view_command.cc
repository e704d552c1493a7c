// partita view: a plan as a page.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/literal_pool.h"
#include "graph/status_macros.h"
#include "partita/options/compilation_flags.h"
#include "partita/options/input_files.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/plan_source.h"
#include "tools/partita/subcommand.h"
#include "tools/partita/viewed_plan.h"
#include "tools/viewer/html_page.h"
#include "tools/viewer/measured_trace.h"
#include "tools/viewer/plan_view.h"
#include "tools/viewer/residuals.h"

namespace partita {
namespace {

constexpr FlagDef kOwnFlags[] = {
    {"output", "FILE", "where to write; - for standard output", nullptr,
     FileUse::kWrites},
    {"trace", "FILE", "a step that `partita run --trace` measured; repeatable",
     nullptr, FileUse::kReads, true, nullptr, kTraceFiles},
    {"machine", "FILE",
     "the machine of the predictions; default: the one that the plan was made "
     "for",
     nullptr, FileUse::kReads, false, nullptr, kMachineFiles},
    {"explain", "N", "how many nodes to explain, 0 to 100 (default 8)"},
    kPlanModelFlag,
};
constexpr auto kFlags = JoinFlags(kOwnFlags, kPlanSourceFlags);
constexpr FlagGroup kGroups[] = {{"flags", kOwnFlags},
                                 {kPlanSourceHeading, kPlanSourceFlags}};

absl::StatusOr<std::vector<MeasuredTrace>> ReadTraces(
    const Arguments& arguments, const PlanView& view) {
  std::vector<MeasuredTrace> traces;
  for (const std::string& path : arguments.GetAll("trace")) {
    PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                             MappedFile::Open(path));
    const absl::string_view text(
        reinterpret_cast<const char*>(file->bytes().data()),
        file->bytes().size());
    PARTITA_ASSIGN_OR_RETURN(MeasuredTrace trace,
                             ReadMeasuredTrace(text, path, view));
    traces.push_back(std::move(trace));
  }
  return traces;
}

// Why nodes are where they are: from the plan's machine and, with --model, by
// making the plan again with each of them elsewhere.
absl::Status Explain(const Plan& plan,
                     const std::optional<PlanMachine>& machine, int64_t most,
                     const Arguments& arguments, Progress& progress,
                     PlanView& view) {
  if (!machine.has_value()) {
    if (!arguments.has("model")) return absl::OkStatus();
    return CalledWrongly(
        "--model: found no machine in the plan, and plans as text have none; "
        "expected --machine FILE with it");
  }
  std::optional<PlanSource> source;
  if (arguments.has("model")) {
    PARTITA_ASSIGN_OR_RETURN(source, ReadPlanSource(arguments, progress));
  }
  progress.Stage("explain");
  const absl::Status explained = AddExplanations(
      plan, *machine, static_cast<int>(most), std::move(source), view);
  if (explained.ok() || arguments.has("model") || arguments.has("explain")) {
    return explained;
  }
  // The rest of the page needs no kernel of the plan's machine.
  WriteWarning(
      absl::StrCat("the page explains no node: ", explained.message()));
  return absl::OkStatus();
}

absl::Status Run(const Arguments& arguments) {
  if (!arguments.has("output")) {
    return CalledWrongly("view: found no --output; expected --output FILE");
  }
  PARTITA_RETURN_IF_ERROR(CheckHasModel(arguments));
  PARTITA_ASSIGN_OR_RETURN(const int64_t explained,
                           arguments.GetInt("explain", 8, 0, 100));
  Progress progress("view");
  progress.Stage("read");
  const std::string& path = arguments.positional()[0];
  PARTITA_ASSIGN_OR_RETURN(const Plan plan, ReadPlanInput(path));
  InputFiles inputs(arguments, kFlags);
  inputs.AddWeights(plan.module.literals());
  PARTITA_RETURN_IF_ERROR(inputs.Keep());
  PARTITA_ASSIGN_OR_RETURN(const std::optional<PlanMachine> machine,
                           FindPlanMachine(plan, path, arguments));
  progress.Stage("predict");
  PARTITA_ASSIGN_OR_RETURN(PlanView view, ReadPredictedView(plan, machine));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<MeasuredTrace> traces,
                           ReadTraces(arguments, view));
  for (const MeasuredTrace& trace : traces) AddResidualFinding(trace, view);
  PARTITA_RETURN_IF_ERROR(
      Explain(plan, machine, explained, arguments, progress, view));
  progress.Stage("write");
  const std::string page = ViewPage(view, traces);
  progress.Done();
  return WriteText(arguments.Get("output", ""), page);
}

}  // namespace

const Subcommand kViewCommand = {
    .name = "view",
    .usage = "view PLAN --output FILE.html [--trace FILE] [--model MODEL]",
    .doc =
        "Draws a plan: what runs where, when and why, and how full memory is.\n"
        "One HTML file that opens from disk and loads nothing. With --trace, "
        "the\nmeasured step is below the predicted one. The plan is proved "
        "first.",
    .operand = "plan",
    .reads = kPlanFiles,
    .flags = kFlags,
    .groups = kGroups,
    .run = Run,
};

}  // namespace partita
