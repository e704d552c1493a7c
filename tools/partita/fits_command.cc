// partita fits: whether a plan or a model fits a machine.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "partita/options/placing_flags.h"
#include "partita/plan_fit.h"
#include "runtime/plan/checker/prove_plan.h"
#include "tools/partita/compile_flags.h"
#include "tools/partita/fits_text.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr FlagDef kOwnFlags[] = {
    {"json", nullptr, "report as JSON"},
};
// Of a model.
constexpr auto kCompileFlags =
    JoinFlags(kStrategyNameFlags, kPinFlags, kStrategyFlags, kStepFlags,
              kOverlapFlags, kModelFlags);
constexpr auto kPlanFlags = JoinFlags(kMachineFlags, kOwnFlags);
constexpr auto kFlags = JoinFlags(kPlanFlags, kCompileFlags);
constexpr FlagGroup kGroups[] = {{"flags", kPlanFlags},
                                 {"of a model", kCompileFlags}};

absl::StatusOr<PlanFit> FitOfPlan(const std::string& path,
                                  const Machine& machine,
                                  const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(RefuseWithPlan(arguments, kCompileFlags));
  PARTITA_ASSIGN_OR_RETURN(const Plan plan, ReadPlanInput(path));
  PARTITA_RETURN_IF_ERROR(ProvePlan(plan).status());
  return FitPlan(plan, machine);
}

absl::StatusOr<PlanFit> FitOfModel(const Machine& machine,
                                   const Arguments& arguments,
                                   Progress& progress) {
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  options.progress = [&](absl::string_view name) { progress.Stage(name); };
  progress.Stage("import");
  PARTITA_ASSIGN_OR_RETURN(Module model, ReadModel(arguments));
  return FitModel(std::move(model), machine, options);
}

absl::StatusOr<PlanFit> FitOf(const Arguments& arguments, Progress& progress) {
  const std::string& path = arguments.positional()[0];
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, ReadMachineFlag(arguments));
  PARTITA_ASSIGN_OR_RETURN(const bool is_plan, IsPlan(path));
  return is_plan ? FitOfPlan(path, machine, arguments)
                 : FitOfModel(machine, arguments, progress);
}

// Scripts tell an answer, code 1, from a question that has none, code 2.
absl::Status WithoutAnswer(const absl::Status& status) {
  if (status.ok() || HasNoReader(status) || IsCalledWrongly(status) ||
      !OptionOf(status).empty()) {
    return status;
  }
  return CalledWrongly(status.message());
}

absl::Status Run(const Arguments& arguments) {
  Progress progress("fits");
  progress.Stage("read");
  const absl::StatusOr<PlanFit> fit = FitOf(arguments, progress);
  progress.Done();
  if (!fit.ok()) return WithoutAnswer(fit.status());
  PARTITA_RETURN_IF_ERROR(WithoutAnswer(
      WriteText("-", arguments.has("json") ? FitJson(*fit) : FitText(*fit))));
  if (fit->fits()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      arguments.positional()[0], ": found that it does not fit machine ",
      fit->machine, "; expected room, kernels and links for it; the report ",
      "says what is missing"));
}

}  // namespace

const Subcommand kFitsCommand = {
    .name = "fits",
    .usage = "fits PLAN|MODEL --machine FILE",
    .doc =
        "Says whether a plan or a model fits a machine, and with how much "
        "room.\n"
        "Writes nothing, generates no code and proves no new plan. A plan is "
        "compared as\nit is; a model is placed for the machine first, with the "
        "flags of `compile`.\nExit code 0: it fits; 1: it does not; 2: there "
        "is no answer, as a file cannot be\nread or a flag is wrong.",
    .operand = "plan or model",
    .reads = kModelAndPlanFiles,
    .flags = kFlags,
    .groups = kGroups,
    .offers = BuiltInModels,
    .run = Run,
};

}  // namespace partita
