// partita compile: from a model and a machine to a plan file.
// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "graph/text/printer.h"
#include "partita/compile.h"
#include "partita/options/compilation_flags.h"
#include "partita/options/keep_model_files.h"
#include "partita/options/placing_flags.h"
#include "runtime/plan/plan_file.h"
#include "tools/partita/cuda_libs_flag.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/remedy_line.h"
#include "tools/partita/report_text.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

std::vector<std::string> StageNames() {
  return {"imported", "optimised", "placed", "kernels", "plan"};
}

constexpr FlagDef kOwnFlags[] = {
    {"output", "FILE", "the plan to write; - for text on standard output",
     nullptr, FileUse::kWrites},
    {"stop-after", "STAGE",
     "print a stage as text, or write the text to --output: imported, "
     "optimised, placed or kernels (these two need --strategy other than "
     "auto), or plan",
     StageNames},
    {"predict", nullptr,
     "end with the predicted step: generate no code and prove nothing, to "
     "compare placements quickly"},
    {"times", nullptr, "show how long each stage and pass took"},
    kCudaLibsFlag,
    {"json", nullptr, "report as JSON"},
};
constexpr auto kFlags = JoinFlags(kCompilationFlags, kOwnFlags);

std::string TimesText(const CompileReport& report) {
  std::string text;
  for (const StageTime& stage : report.stages) {
    absl::StrAppend(&text, "stage ", stage.stage, " ",
                    SecondsText(stage.seconds), "\n");
  }
  for (const PassRecord& pass : report.passes) {
    absl::StrAppend(&text, "pass ", pass.pass, " ", SecondsText(pass.seconds),
                    pass.changed ? "" : "  (no change)", "\n");
  }
  return text;
}

UnfitCommand Unfit(const Arguments& arguments, const Machine& machine) {
  return {"compile", arguments, machine, ReadModelAgain};
}

absl::Status StopAfter(const std::string& stage, Module module,
                       const Machine& machine, const CompileOptions& options,
                       const Arguments& arguments) {
  std::string text;
  if (stage == "imported") {
    text = PrintModule(module);
  } else {
    absl::StatusOr<std::string> compiled =
        CompileTo(stage, std::move(module), machine, options);
    PARTITA_RETURN_IF_ERROR(
        WithCommandLine(compiled.status(), Unfit(arguments, machine)));
    text = *std::move(compiled);
  }
  return WriteText(arguments.Get("output", "-"), text);
}

// A stage is text and has no report; a prediction has nothing to write.
absl::Status CheckReport(const Arguments& arguments, const std::string& stage) {
  const bool is_text = !stage.empty();
  const std::string output =
      arguments.has("stop-after") ? "--stop-after" : "--output";
  if (arguments.has("predict") && (is_text || arguments.has("output"))) {
    return CalledWrongly(absl::StrCat(
        "compile: found --predict with ", output,
        ", which needs a stage or a plan to write; expected one of them"));
  }
  if (!is_text || !arguments.has("json")) return absl::OkStatus();
  return CalledWrongly(
      absl::StrCat("compile: found --json with ",
                   arguments.has("stop-after") ? "--stop-after" : "--output -",
                   ", which prints text; expected one of them"));
}

// Nullopt without --output.
absl::StatusOr<std::optional<WrittenWeights>> WritePlanFlag(
    const Plan& plan, const Arguments& arguments, Progress& progress) {
  if (!arguments.has("output")) return std::nullopt;
  progress.Stage("write");
  PARTITA_ASSIGN_OR_RETURN(const WrittenWeights written,
                           WritePlan(plan, arguments.Get("output", ""),
                                     ReadPlanFileOptions(arguments)));
  return written;
}

std::string ReportText(const Compiled& compiled,
                       const std::optional<WrittenWeights>& written,
                       const Arguments& arguments) {
  if (arguments.has("json")) return CompileJson(compiled, written);
  return absl::StrCat(CompileSummary(compiled, written),
                      arguments.has("times") ? TimesText(compiled.report) : "");
}

absl::Status Run(const Arguments& arguments) {
  // A plan as text, or a stage before it, goes to --output.
  const bool to_text = arguments.Get("output", "") == "-";
  const std::string stage = arguments.Get("stop-after", to_text ? "plan" : "");
  PARTITA_RETURN_IF_ERROR(CheckReport(arguments, stage));
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  options.plan_name = PlanNameOf(arguments.positional()[0]);
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, ReadMachineFlag(arguments));
  Progress progress("compile");
  progress.Stage("import");
  PARTITA_ASSIGN_OR_RETURN(Module module, ReadModel(arguments));
  PARTITA_RETURN_IF_ERROR(KeepModelFiles(module, options, arguments, kFlags));
  if (!stage.empty()) {
    return StopAfter(stage, std::move(module), machine, options, arguments);
  }
  options.progress = [&](absl::string_view name) { progress.Stage(name); };
  const absl::StatusOr<Compiled> compiled =
      arguments.has("predict") ? Predict(std::move(module), machine, options)
                               : Compile(std::move(module), machine, options);
  PARTITA_RETURN_IF_ERROR(
      WithCommandLine(compiled.status(), Unfit(arguments, machine)));
  PARTITA_ASSIGN_OR_RETURN(const std::optional<WrittenWeights> written,
                           WritePlanFlag(compiled->plan, arguments, progress));
  progress.Done();
  return WriteText("-", ReportText(*compiled, written, arguments));
}

}  // namespace

const Subcommand kCompileCommand = {
    .name = "compile",
    .usage = "compile MODEL --machine FILE --output PLAN",
    .doc =
        "Compiles a model for a machine into a proved plan.\n"
        "MODEL is an ONNX file, a module as text (NAME.graph), or one of three "
        "examples\nwith random weights: builtin:resnet50, "
        "builtin:small_conv_net and\nbuiltin:two_layer_perceptron. Says what "
        "went where, how much memory each device\nuses, and the predicted "
        "step. What does not fit is refused with the device, the\nbytes short, "
        "what fills the memory, and what helps.",
    .operand = "model",
    .reads = kModelFiles,
    .flags = kFlags,
    .offers = BuiltInModels,
    .run = Run,
};

}  // namespace partita
