// partita view: a plan as a page.
// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "graph/literal_pool.h"
#include "graph/status_macros.h"
#include "partita/options/input_files.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/subcommand.h"
#include "tools/viewer/html_page.h"
#include "tools/viewer/measured_trace.h"
#include "tools/viewer/plan_view.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"output", "FILE", "where to write; - for standard output", nullptr,
     FileUse::kWrites},
    {"trace", "FILE", "a step that `partita run --trace` measured; repeatable",
     nullptr, FileUse::kReads, true, nullptr, kTraceFiles},
};

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

absl::Status Run(const Arguments& arguments) {
  if (!arguments.has("output")) {
    return CalledWrongly("view: found no --output; expected --output FILE");
  }
  PARTITA_ASSIGN_OR_RETURN(const Plan plan,
                           ReadPlanInput(arguments.positional()[0]));
  InputFiles inputs(arguments, kFlags);
  inputs.AddWeights(plan.module.literals());
  PARTITA_RETURN_IF_ERROR(inputs.Keep());
  PARTITA_ASSIGN_OR_RETURN(const PlanView view, ReadPlanView(plan));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<MeasuredTrace> traces,
                           ReadTraces(arguments, view));
  return WriteText(arguments.Get("output", ""), HtmlPage(view, traces));
}

}  // namespace

const Subcommand kViewCommand = {
    .name = "view",
    .usage = "view PLAN --output FILE.html [--trace FILE]",
    .doc =
        "Draws a plan: what runs where, when and why, and how full memory is.\n"
        "One HTML file that opens from disk and loads nothing. With --trace, "
        "the\nmeasured step is below the predicted one. The plan is proved "
        "first.",
    .operand = "plan",
    .reads = kPlanFiles,
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
