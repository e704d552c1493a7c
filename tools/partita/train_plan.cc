// Compiles by flags, with remedies in terms of flags.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/train_plan.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "partita/options/placing_flags.h"
#include "placement/lower/refusal.h"
#include "runtime/plan/plan_file.h"
#include "tools/partita/remedy_line.h"
#include "tools/partita/report_text.h"
#include "tools/partita/train_checks.h"

namespace partita {
namespace {

// Models with batch norms per replica have only one strategy.
absl::Status WithRemedy(const absl::Status& status, const TrainingSetup& setup,
                        const Machine& machine, const Arguments& arguments) {
  if (setup.model.batch_norm_shards > 1) {
    if (!ShortageOf(status).has_value()) return status;
    return absl::Status(
        status.code(),
        absl::StrCat(
            status.message(),
            "\n  a strategy other than data goes without --replicas and "
            "with --batch-norm synchronised: another step"));
  }
  return WithCommandLine(
      status, {.command = "train",
               .arguments = arguments,
               .machine = machine,
               .read = [&](const Arguments&) { return setup.module.Clone(); },
               .extents_may_shrink = false,
               .runs_on_host = !arguments.has("virtual") &&
                               !arguments.has("emulated-gpus") &&
                               !arguments.has("plan")});
}

}  // namespace

absl::StatusOr<Compiled> CompileStep(const TrainingSetup& setup,
                                     const Arguments& arguments,
                                     Progress& progress) {
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  options.progress = [&](absl::string_view name) {
    progress.Stage(absl::StrCat("compiling: ", name));
  };
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, ReadMachineFlag(arguments));
  absl::StatusOr<Compiled> compiled =
      Compile(setup.module.Clone(), machine, options);
  PARTITA_RETURN_IF_ERROR(
      WithRemedy(compiled.status(), setup, machine, arguments));
  PARTITA_RETURN_IF_ERROR(CheckReplicas(
      compiled->plan.module, setup.model.batch_norm_shards, arguments));
  return compiled;
}

absl::Status ReportPlan(const Compiled& compiled, int batch_norm_shards,
                        const Arguments& arguments, Progress& progress) {
  progress.Stage("write");
  PARTITA_ASSIGN_OR_RETURN(const WrittenWeights written,
                           WritePlan(compiled.plan, arguments.Get("plan", "")));
  progress.Done();
  return WriteText("-", arguments.has("json")
                            ? CompileJson(compiled, written)
                            : absl::StrCat(BatchNormsText(batch_norm_shards),
                                           CompileSummary(compiled, written)));
}

TrainReport ReportHead(const TrainingSetup& setup,
                       const CompileReport& compiled) {
  const TrainableModel& model = setup.model;
  const EntryReport& step = compiled.entries.front();
  return {.model = setup.request.model,
          .strategy = compiled.strategy,
          .chosen_step = compiled.chosen_step,
          .has_pins = compiled.has_pins,
          .devices = UsedDevices(compiled, /*entry=*/0),
          .fallbacks = compiled.fallbacks,
          .step_seconds = step.step_seconds,
          .repeated_share = step.repeated_share,
          .sharded_updates = step.sharded_updates,
          .sample_noun = model.sample_noun,
          .samples = model.train.samples->num_samples(),
          .class_names = model.class_names,
          .batch_norm_shards = model.batch_norm_shards};
}

}  // namespace partita
