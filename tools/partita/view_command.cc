// partita view: a plan as a page, or as a picture of its graph.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/literal_pool.h"
#include "graph/status_macros.h"
#include "tools/partita/input_files.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/subcommand.h"
#include "tools/viewer/dot_text.h"
#include "tools/viewer/html_page.h"
#include "tools/viewer/measured_trace.h"
#include "tools/viewer/plan_view.h"

namespace partita {
namespace {

std::vector<std::string> FormatNames() { return {"html", "dot", "svg"}; }

constexpr FlagDef kFlags[] = {
    {"output", "FILE", "where to write; - for standard output", nullptr,
     FileUse::kWrites},
    {"format", "NAME",
     "html, dot, or svg (needs Graphviz); default: what FILE ends in, or html",
     FormatNames},
    {"trace", "FILE", "a step that `partita run --trace` measured; repeatable",
     nullptr, FileUse::kReads, true},
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

absl::StatusOr<std::string> Draw(const std::string& format,
                                 const PlanView& view,
                                 const Arguments& arguments) {
  if (format == "html") {
    PARTITA_ASSIGN_OR_RETURN(const std::vector<MeasuredTrace> traces,
                             ReadTraces(arguments, view));
    return HtmlPage(view, traces);
  }
  if (arguments.has("trace")) {
    return CalledWrongly(
        absl::StrCat("view: found --trace with --format ", format,
                     "; expected it with html only; leave it out"));
  }
  return format == "dot" ? DotText(view) : SvgOf(DotText(view));
}

// A file's ending says what its reader will expect in it.
absl::StatusOr<std::string> FormatOf(const Arguments& arguments) {
  const std::string output = arguments.Get("output", "");
  std::string ending = std::filesystem::path(output).extension().string();
  if (arguments.has("format")) return arguments.Get("format", "");
  if (ending.empty()) return "html";
  ending.erase(0, 1);
  const std::vector<std::string> formats = FormatNames();
  if (std::find(formats.begin(), formats.end(), ending) != formats.end()) {
    return ending;
  }
  return CalledWrongly(absl::StrCat(
      "view: found --output ", output, "; expected a name that ends in .",
      absl::StrJoin(formats, ", ."), ", or --format NAME"));
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
  PARTITA_ASSIGN_OR_RETURN(const std::string format, FormatOf(arguments));
  PARTITA_ASSIGN_OR_RETURN(const PlanView view, ReadPlanView(plan));
  PARTITA_ASSIGN_OR_RETURN(const std::string text,
                           Draw(format, view, arguments));
  return WriteText(arguments.Get("output", ""), text);
}

}  // namespace

const Subcommand kViewCommand = {
    .name = "view",
    .usage = "view PLAN --output FILE.html [--trace FILE]",
    .doc =
        "Draws a plan: what runs where, when and why, and how full memory is.\n"
        "One HTML file that opens from disk and loads nothing. With --trace, "
        "the\nmeasured step lies under the predicted one. --format dot or svg "
        "draws the\ngraph alone. The plan is proved first.",
    .operand = "plan",
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
