// partita train: a model, a dataset, epochs of steps, checkpoints.
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/gpu_split.h"
#include "graph/status_macros.h"
#include "partita/compile.h"
#include "partita/train/exported_evaluation.h"
#include "partita/train/training_run.h"
#include "partita/train/training_setup.h"
#include "runtime/tensor_file/bad_file.h"
#include "tools/partita/emulated_gpus.h"
#include "tools/partita/interruption.h"
#include "tools/partita/memory_report.h"
#include "tools/partita/output.h"
#include "tools/partita/subcommand.h"
#include "tools/partita/train_checks.h"
#include "tools/partita/train_flags.h"
#include "tools/partita/train_log.h"
#include "tools/partita/train_plan.h"
#include "tools/partita/train_report.h"
#include "tools/partita/train_request.h"
#include "tools/partita/trainable_models.h"

namespace partita {
namespace {

// Errors of the export with another batch name the flag.
void NameExportBatch(TrainableModel& model) {
  if (model.rebatched == nullptr) return;
  model.rebatched = [rebatched = std::move(model.rebatched)](
                        int64_t batch) -> absl::StatusOr<Module> {
    absl::StatusOr<Module> module = rebatched(batch);
    if (module.ok()) return module;
    return AtPlace("--export-batch", module.status());
  };
}

absl::StatusOr<TrainingSetup> SetUp(const Arguments& arguments,
                                    Progress& progress) {
  PARTITA_ASSIGN_OR_RETURN(const TrainableKind* kind, FindTrainable(arguments));
  PARTITA_ASSIGN_OR_RETURN(TrainingRequest request,
                           ReadTrainRequest(arguments, kind->usual()));
  PARTITA_RETURN_IF_ERROR(CheckTrainFlags(arguments, kTrainFlags));
  progress.Stage("open");
  PARTITA_ASSIGN_OR_RETURN(TrainableModel model, kind->read(arguments));
  NameExportBatch(model);
  PARTITA_RETURN_IF_ERROR(CheckDropLast(arguments, model, *kind));
  return SetUpTraining(std::move(request), std::move(model),
                       [&](absl::string_view stage) { progress.Stage(stage); });
}

// Uses of the trained model: a text, a file.
absl::Status UseTrained(const TrainingSetup& setup, Session& session,
                        Progress& progress, TrainReport& report) {
  const std::string& path = setup.request.export_path;
  if (!path.empty()) {
    progress.Stage("export");
    PARTITA_RETURN_IF_ERROR(ExportEvaluation(setup.exported(), session, path));
    report.exported = path;
  }
  if (setup.model.generate == nullptr) return absl::OkStatus();
  progress.Stage("generate");
  PARTITA_ASSIGN_OR_RETURN(report.generated, setup.model.generate(session));
  return absl::OkStatus();
}

absl::Status ReportMemory(const Arguments& arguments, const Session& session,
                          TrainReport& report) {
  PARTITA_ASSIGN_OR_RETURN(report.memory, session.MemoryUse());
  if (!arguments.has(kMemorySnapshotFlag.name)) return absl::OkStatus();
  PARTITA_ASSIGN_OR_RETURN(const std::vector<MemorySnapshot> memory,
                           session.SnapshotMemory());
  report.memory_snapshot = MemorySnapshotText(memory);
  return absl::OkStatus();
}

// For an interrupted training without a checkpoint.
[[noreturn]] void EndUnkept(const Interruption& interruption,
                            const TrainReport& report, Progress& progress) {
  progress.Done();
  std::fprintf(stderr,
               "partita: interrupted after step %lld; nothing is kept, as "
               "there is no --checkpoint\n",
               static_cast<long long>(report.record.step));
  interruption.Obey();
}

absl::Status RunEpochs(const Arguments& arguments,
                       const Interruption& interruption, TrainingRun& run,
                       TrainReport& report, Progress& progress) {
  const bool as_text = !arguments.has("json");
  progress.Done();
  if (as_text) {
    PARTITA_RETURN_IF_ERROR(
        AtPlace(absl::StrCat("before step ", report.record.first_step + 1),
                WriteText("-", TrainBeginText(report))));
  }
  return run.Run(report.record,
                 ShowTraining(report, as_text, interruption, progress));
}

absl::Status Train(const TrainingSetup& setup, const Arguments& arguments,
                   TrainingRun& run, TrainReport& report, Progress& progress) {
  std::optional<Interruption> interruption(std::in_place);
  PARTITA_RETURN_IF_ERROR(ReportIfUnread(
      RunEpochs(arguments, *interruption, run, report, progress), progress));
  if (interruption->came()) {
    report.record.interrupted = true;
    if (!arguments.has("checkpoint")) {
      EndUnkept(*interruption, report, progress);
    }
  } else {
    // A checkpoint does not continue what follows the training.
    interruption.reset();
  }
  report.untraced = arguments.has("trace") && report.record.trace.empty();
  report.checkpoint = arguments.Get("checkpoint", "");
  // An error of using the model, or of a driver, is returned after the report.
  absl::Status used;
  if (!report.record.interrupted) {
    used = UseTrained(setup, run.session(), progress, report);
  }
  used.Update(ReportMemory(arguments, run.session(), report));
  progress.Done();
  PARTITA_RETURN_IF_ERROR(WriteReport(arguments, report, progress));
  if (report.record.interrupted) interruption->Obey();
  return used;
}

absl::Status Run(const Arguments& arguments) {
  Progress progress("train");
  PARTITA_ASSIGN_OR_RETURN(const TrainingRunOptions options,
                           ReadRunOptions(arguments));
  PARTITA_ASSIGN_OR_RETURN(const TrainingSetup setup,
                           SetUp(arguments, progress));
  PARTITA_ASSIGN_OR_RETURN(Compiled compiled,
                           CompileStep(setup, arguments, progress));
  if (arguments.has("plan")) {
    return ReportPlan(compiled, setup.model.batch_norm_shards, arguments,
                      progress);
  }
  TrainReport report = ReportHead(setup, compiled.report);
  const auto plan = std::make_shared<const Plan>(std::move(compiled.plan));
  const auto load_and_train = [&](const std::string& notice) -> absl::Status {
    progress.Stage("load");
    PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<TrainingRun> run,
                             TrainingRun::Start(setup, plan, options));
    report.notice = JoinNotices(run->session().notice(), notice);
    report.replaced_kernels = run->session().ReplacedKernels();
    report.record = run->NewRecord();
    return Train(setup, arguments, *run, report, progress);
  };
  return OnEmulatedGpusIf(arguments.has("emulated-gpus"), *plan,
                          GpuSplit{options.load.split_gpu}, load_and_train);
}

}  // namespace

const Subcommand kTrainCommand = {
    .name = "train",
    .usage = "train MODEL --images FILE --labels FILE",
    .doc =
        "Trains a model on a dataset, and evaluates it after each epoch.\n"
        "MODEL is builtin:mnist or builtin:resnet18, on --images with "
        "--labels; builtin:gpt\n"
        "or builtin:lstm, on --text; or an ONNX model, on an --input for "
        "each of its\n"
        "inputs with --labels.\n"
        "With --checkpoint the training is kept in a file every --every "
        "steps, at its end,\n"
        "at SIGINT and SIGTERM after the current step, and when nobody "
        "reads its output\n"
        "any more; --resume continues it bit for bit as if it had never "
        "been interrupted.\n"
        "A checkpoint of another model, of other options, another dataset "
        "or another plan\n"
        "is refused by name; with --another-plan the training goes on by "
        "another plan, to\n"
        "rounding.\n"
        "--export writes what evaluates the trained model, for `partita "
        "run` and others.\n"
        "--plan writes the training step's plan, for `partita check`, "
        "`simulate` and `view`,\n"
        "and ends there.\n"
        "OMP_WAIT_POLICY=passive in the environment is as for `partita "
        "run`.",
    .operand = "model",
    .reads = {FileKind::kOnnxModel},
    .flags = kTrainFlags,
    .groups = kTrainFlagGroups,
    .offers = TrainableBuiltIns,
    .size_flags = SizeFlagsOf,
    .run = Run,
};

}  // namespace partita
