// partita train: a model, a dataset, epochs of steps, checkpoints.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/atomic_file.h"
#include "graph/builder/loss_scaling.h"
#include "graph/core_ops.h"
#include "graph/fingerprint.h"
#include "graph/host_capacity.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "partita/compile.h"
#include "partita/session.h"
#include "partita/train/dataset_hash.h"
#include "partita/train/exported_evaluation.h"
#include "partita/train/trainer.h"
#include "placement/planner/refusal.h"
#include "runtime/plan/plan_file.h"
#include "runtime/tensor_file/bad_file.h"
#include "tools/partita/input_files.h"
#include "tools/partita/interruption.h"
#include "tools/partita/loss_table.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/remedy_line.h"
#include "tools/partita/report_text.h"
#include "tools/partita/subcommand.h"
#include "tools/partita/train_flags.h"
#include "tools/partita/train_log.h"
#include "tools/partita/train_report.h"
#include "tools/partita/train_request.h"
#include "tools/partita/trainable_models.h"

namespace partita {
namespace {

constexpr int64_t kMaxBatch = 1 << 16;

// A flag that qualifies another one.
absl::Status CheckTogether(const Arguments& arguments) {
  for (const auto& [flag, about] :
       {std::pair("every", "checkpoint"), std::pair("another-plan", "resume"),
        std::pair("temperature", "sample"),
        std::pair("export-batch", "export")}) {
    if (!arguments.has(flag) || arguments.has(about)) continue;
    return CalledWrongly(absl::StrCat("--", flag, ": found it without --",
                                      about, "; expected both"));
  }
  // No trainable model has pins of its own.
  if (arguments.Get("strategy", "") != "pinned" || arguments.has("pin")) {
    return absl::OkStatus();
  }
  return CalledWrongly("--strategy: found pinned without --pin; expected both");
}

// Flags of the steps, if there are none.
absl::Status CheckBesidePlan(const Arguments& arguments) {
  if (!arguments.has("plan")) return absl::OkStatus();
  for (const char* flag :
       {"checkpoint", "resume", "export", "csv", "trace", "sample"}) {
    if (!arguments.has(flag)) continue;
    return CalledWrongly(absl::StrCat(
        "--", flag,
        ": found it with --plan, which ends before the first step; expected "
        "one of them"));
  }
  if (arguments.Get("plan", "") != "-") return absl::OkStatus();
  return CalledWrongly(
      "--plan: found -, and standard output has the report; expected the name "
      "of a file");
}

// Standard output has the lines of the epochs.
absl::Status CheckNoDash(const Arguments& arguments) {
  for (const char* flag : {"checkpoint", "export", "csv", "trace"}) {
    if (arguments.Get(flag, "") != "-") continue;
    return CalledWrongly(absl::StrCat("--", flag,
                                      ": found -, and standard output has the "
                                      "progress; expected the name of a file"));
  }
  return absl::OkStatus();
}

// Prevents losing a long training to one that was started anew by mistake.
absl::Status KeepOtherTraining(const Arguments& arguments) {
  const std::string path = arguments.Get("checkpoint", "");
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown) ||
      std::filesystem::file_size(path, unknown) == 0) {
    return absl::OkStatus();
  }
  if (arguments.has("resume") &&
      std::filesystem::equivalent(path, arguments.Get("resume", ""), unknown)) {
    return absl::OkStatus();
  }
  return CalledWrongly(
      absl::StrCat("--checkpoint: found ", path,
                   ", which this training would replace; expected a new file, "
                   "or the one that --resume continues; add --resume ",
                   path, ", or remove the file, or give another name"));
}

// A checkpoint may replace the one that it continues, and no other input.
absl::Status KeepInputs(const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(CheckTogether(arguments));
  PARTITA_RETURN_IF_ERROR(CheckBesidePlan(arguments));
  PARTITA_RETURN_IF_ERROR(CheckNoDash(arguments));
  if (!arguments.has("checkpoint")) return absl::OkStatus();
  PARTITA_RETURN_IF_ERROR(
      InputFiles(arguments.With("resume", {}), kTrainFlags)
          .Keep("checkpoint", arguments.Get("checkpoint", "")));
  return KeepOtherTraining(arguments);
}

// Tries early what is written last.
absl::Status CheckWrites(const Arguments& arguments) {
  for (const char* flag : {"plan", "trace"}) {
    if (!arguments.has(flag)) continue;
    PARTITA_RETURN_IF_ERROR(CheckWritable(arguments.Get(flag, "")));
  }
  return absl::OkStatus();
}

// Reads every sample, so that a faulty one is found before the first step.
absl::StatusOr<std::string> HashOf(const TrainingData& data,
                                   Progress& progress) {
  if (data.samples == nullptr) return std::string();
  if (data.samples->num_samples() == 0) {
    return BadFile(data.source, "no samples", "one or more",
                   "give a file that has some");
  }
  progress.Stage(absl::StrCat("read ", data.source));
  const absl::StatusOr<ContentHash> hash = HashDataset(*data.samples);
  if (!hash.ok()) return AtPlace(data.source, hash.status());
  return hash->ToString();
}

int64_t StepsPerEpoch(const TrainableModel& model, bool drop_last) {
  const int64_t samples = model.train.samples->num_samples();
  return (samples + (drop_last ? 0 : model.batch - 1)) / model.batch;
}

// Before a plan is made for it.
absl::Status CheckSteps(const TrainableModel& model, int64_t steps,
                        const TrainableKind& kind) {
  if (steps > 0) return absl::OkStatus();
  const bool reads_batch = absl::c_linear_search(kind.flags, "batch");
  return CalledWrongly(absl::StrCat(
      "--drop-last: found ",
      CountText(model.train.samples->num_samples(), model.sample_noun),
      ", less than a batch of ", model.batch,
      "; expected a whole one; leave it out, or ",
      reads_batch ? "lower --batch" : "bind a smaller batch by --dim NAME=N"));
}

// Null: with the training's batch.
absl::StatusOr<std::unique_ptr<const Module>> ReadRebatched(
    const TrainableModel& model, const Arguments& arguments) {
  if (!arguments.has("export-batch")) return nullptr;
  PARTITA_ASSIGN_OR_RETURN(const int64_t batch,
                           arguments.GetInt("export-batch", 1, 1, kMaxBatch));
  absl::StatusOr<Module> module = model.rebatched(batch);
  if (!module.ok()) return AtPlace("--export-batch", module.status());
  return std::make_unique<const Module>(*std::move(module));
}

// The compiled model, and what its checkpoints depend on.
struct Prepared {
  Module module;  // before compiling
  Compiled compiled;
  // Exported in its place if --export-batch is given.
  std::unique_ptr<const Module> rebatched;
  std::vector<TrainingSetting> settings;
};

ExportedFunction ExportedOf(const TrainableModel& model, const Module& module,
                            const Module* rebatched) {
  const Module* inference = model.inference.get();
  const std::string name =
      inference == nullptr ? "evaluate" : inference->main().name();
  if (rebatched != nullptr) return {*rebatched, name};
  return {inference == nullptr ? module : *inference, name};
}

// Statistics are a replica's only if each has one shard of the batch.
absl::Status CheckReplicas(const Module& placed, int batch_norm_parts,
                           const Arguments& arguments) {
  if (batch_norm_parts == 1) return absl::OkStatus();
  int replicas = 1;
  for (const OpView& variable : placed.main().ops(kVariable)) {
    replicas = std::max(
        replicas, static_cast<int>(variable.node().placement.devices.size()));
  }
  if (replicas == batch_norm_parts) return absl::OkStatus();
  return CalledWrongly(absl::StrCat(
      "--replicas: found ", batch_norm_parts, ", and the plan has ", replicas,
      "; expected as many for --batch-norm per-replica; ",
      arguments.has("pin")
          ? "leave out --pin"
          : absl::StrCat("take ", replicas, ", or a machine with ",
                         batch_norm_parts, " equal devices"),
      ", or take --batch-norm synchronised"));
}

// The remedy if a checkpoint is of another dataset.
std::string GiveTheSameData(const Arguments& arguments) {
  std::vector<std::string> given;
  for (const char* flag :
       {"images", "input", "text", "labels", "label-column"}) {
    if (arguments.has(flag)) given.push_back(absl::StrCat("--", flag));
  }
  return absl::StrCat("give by ", absl::StrJoin(given, " and "),
                      " the samples that the training was begun with");
}

// Models with batch norms per replica have only one strategy.
absl::Status WithRemedy(const absl::Status& status, const Module& module,
                        const TrainableModel& model, const Machine& machine,
                        const Arguments& arguments) {
  if (model.batch_norm_parts > 1) {
    if (!ShortageOf(status).has_value()) return status;
    return absl::Status(
        status.code(),
        absl::StrCat(
            status.message(),
            "\n  a strategy other than data goes without --replicas and "
            "with --batch-norm synchronised: another step"));
  }
  return WithCommandLine(
      status,
      {.command = "train",
       .arguments = arguments,
       .machine = machine,
       .read = [&](const Arguments&) { return module.Clone(); },
       .extents_may_shrink = false,
       .runs_on_host = !arguments.has("virtual") && !arguments.has("plan")});
}

absl::StatusOr<Prepared> Prepare(const TrainRequest& request,
                                 const TrainableModel& model,
                                 const std::string& dataset_hash,
                                 const Arguments& arguments,
                                 Progress& progress) {
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  options.progress = [&](absl::string_view name) {
    progress.Stage(absl::StrCat("compiling: ", name));
  };
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, ReadMachineFlag(arguments));
  PARTITA_ASSIGN_OR_RETURN(Module module, model.build(request.recipe));
  Prepared prepared;
  prepared.settings = SettingsOf(request, model);
  prepared.settings.push_back({.name = "dataset",
                               .value = dataset_hash,
                               .fix = GiveTheSameData(arguments)});
  if (arguments.has("export")) {
    PARTITA_ASSIGN_OR_RETURN(prepared.rebatched,
                             ReadRebatched(model, arguments));
    PARTITA_RETURN_IF_ERROR(
        CheckExport(ExportedOf(model, module, prepared.rebatched.get()),
                    arguments.Get("export", "")));
  }
  prepared.settings.push_back({"graph", FingerprintOf(module).ToString(),
                               TrainingSetting::Kind::kFollows});
  absl::StatusOr<Compiled> compiled = Compile(module.Clone(), machine, options);
  PARTITA_RETURN_IF_ERROR(
      WithRemedy(compiled.status(), module, model, machine, arguments));
  prepared.compiled = *std::move(compiled);
  const Module& placed = prepared.compiled.plan.module;
  PARTITA_RETURN_IF_ERROR(
      CheckReplicas(placed, model.batch_norm_parts, arguments));
  prepared.module = std::move(module);
  // Placements and kernels: another plan has the same numbers except for
  // rounding.
  prepared.settings.push_back({"plan", FingerprintOf(placed).ToString(),
                               TrainingSetting::Kind::kRounds});
  // An emulated device computes with this host's kernels, whatever the plan
  // says.
  if (arguments.has("virtual")) {
    prepared.settings.push_back({"instruction sets",
                                 absl::StrJoin(ThisHost().isas, " "),
                                 TrainingSetting::Kind::kRounds});
  }
  return prepared;
}

// Reports the plan instead of training.
absl::Status ReportPlan(const Compiled& compiled, int batch_norm_parts,
                        const Arguments& arguments, Progress& progress) {
  progress.Stage("write");
  PARTITA_ASSIGN_OR_RETURN(const WrittenWeights written,
                           WritePlan(compiled.plan, arguments.Get("plan", "")));
  progress.Done();
  return WriteText("-", arguments.has("json")
                            ? CompileJson(compiled, written)
                            : absl::StrCat(BatchNormsText(batch_norm_parts),
                                           CompileSummary(compiled, written)));
}

absl::StatusOr<std::unique_ptr<Session>> Load(Plan plan,
                                              const Arguments& arguments,
                                              Progress& progress) {
  LoadOptions load;
  if (arguments.has("virtual")) load.devices = DeviceMode::kVirtual;
  progress.Stage("load");
  return Session::Create(std::make_shared<const Plan>(std::move(plan)), load);
}

absl::StatusOr<std::unique_ptr<Trainer>> NewTrainer(
    const TrainRequest& request, const TrainableModel& model,
    const Prepared& prepared, Session& session, const Arguments& arguments) {
  TrainerOptions options = {
      .batch_size = model.batch,
      .epochs = request.epochs,
      .seed = request.recipe.seed,
      .drop_last = request.drop_last,
      .workers = request.workers,
      .stop_at_nan = arguments.Get("nan", "stop") == "stop",
      .checkpoint = arguments.Get("checkpoint", ""),
      .run = {.trace = arguments.has("trace")},
      .settings = prepared.settings};
  PARTITA_ASSIGN_OR_RETURN(
      options.every,
      arguments.GetInt("every", 0, 1, std::numeric_limits<int64_t>::max()));
  PARTITA_ASSIGN_OR_RETURN(
      std::unique_ptr<Trainer> trainer,
      Trainer::Create(session, model.train.samples, std::move(options)));
  if (arguments.has("resume")) {
    PARTITA_RETURN_IF_ERROR(trainer->Resume(arguments.Get("resume", ""),
                                            arguments.has("another-plan")
                                                ? ResumeOn::kAnotherPlan
                                                : ResumeOn::kSamePlan));
  }
  return trainer;
}

// Those that compute a part of the step.
std::vector<std::string> DevicesOf(const CompileReport& report) {
  const std::vector<DeviceUse>& uses = report.entries.front().devices;
  std::vector<std::string> names;
  for (size_t d = 0; d < uses.size(); ++d) {
    if (uses[d].nodes > 0) names.push_back(report.devices[d].device);
  }
  return names;
}

TrainReport ReportHead(const TrainRequest& request, const TrainableModel& model,
                       const Prepared& prepared, const Trainer& trainer) {
  const CompileReport& compiled = prepared.compiled.report;
  const EntryReport& step = compiled.entries.front();
  return {.model = request.model,
          .strategy = compiled.strategy,
          .devices = DevicesOf(compiled),
          .fallbacks = compiled.fallbacks,
          .step_seconds = step.step_seconds,
          .repeated_share = step.repeated_share,
          .sharded_updates = step.sharded_updates,
          .sample_noun = model.sample_noun,
          .samples = model.train.samples->num_samples(),
          .class_names = model.class_names,
          .batch_norm_parts = model.batch_norm_parts,
          .epochs = request.epochs,
          .steps_per_epoch = trainer.steps_per_epoch(),
          .first_step = trainer.position().step,
          .by_another_plan = trainer.resumed_by_another_plan(),
          .step = trainer.position().step};
}

// A resumed training continues its table.
absl::StatusOr<LossTable> OpenTable(const Arguments& arguments,
                                    int64_t first_step) {
  const std::string path = arguments.Get("csv", "");
  absl::StatusOr<LossTable> table = arguments.has("resume")
                                        ? LossTable::Continue(path, first_step)
                                        : LossTable::Create(path);
  if (table.ok() || absl::IsInvalidArgument(table.status())) return table;
  return AtPlace(absl::StrCat("before step ", first_step + 1), table.status());
}

absl::Status RunTraining(Trainer& trainer, TrainLogOptions log_options,
                         const Arguments& arguments, Progress& progress,
                         TrainReport& report) {
  std::optional<LossTable> table;
  if (arguments.has("csv")) {
    PARTITA_ASSIGN_OR_RETURN(table, OpenTable(arguments, report.first_step));
    log_options.table = &*table;
  }
  TrainLog log(log_options, progress, report);
  PARTITA_ASSIGN_OR_RETURN(const TrainingEnd end, trainer.Run(log));
  report.interrupted = end == TrainingEnd::kStopped;
  report.seconds_waited = trainer.seconds_waited();
  return log.End();
}

// Nullopt if the loss is not scaled.
absl::StatusOr<std::optional<LossScaleReport>> LossScaleOf(const Module& module,
                                                           Session& session) {
  if (module.FindVariable(kLossScale) == nullptr) return std::nullopt;
  PARTITA_ASSIGN_OR_RETURN(const HostTensor scale,
                           session.ReadVariable(kLossScale));
  PARTITA_ASSIGN_OR_RETURN(const HostTensor skipped,
                           session.ReadVariable(kSkippedSteps));
  return LossScaleReport{GetAsDouble(scale, 0),
                         static_cast<int64_t>(GetAsDouble(skipped, 0))};
}

// Uses of the trained model: a text, a file.
absl::Status UseTrained(const TrainableModel& model, const Prepared& prepared,
                        Session& session, const Arguments& arguments,
                        Progress& progress, TrainReport& report) {
  if (arguments.has("export")) {
    progress.Stage("export");
    const std::string path = arguments.Get("export", "");
    PARTITA_RETURN_IF_ERROR(ExportEvaluation(
        ExportedOf(model, prepared.module, prepared.rebatched.get()), session,
        path));
    report.exported = path;
  }
  if (model.generate == nullptr) return absl::OkStatus();
  progress.Stage("generate");
  PARTITA_ASSIGN_OR_RETURN(report.generated, model.generate(session));
  return absl::OkStatus();
}

// For an interrupted training without a checkpoint.
[[noreturn]] void EndUnkept(const Interruption& interruption,
                            const TrainReport& report, Progress& progress) {
  progress.Done();
  std::fprintf(stderr,
               "partita: interrupted after step %lld; nothing is kept, as "
               "there is no --checkpoint\n",
               static_cast<long long>(report.step));
  interruption.Obey();
}

// A program without a reader ends silently, but a training reports what was
// kept.
absl::Status ReportIfUnread(const absl::Status& status, Progress& progress) {
  if (!HasNoReader(status)) return status;
  progress.Done();
  WriteError(status.message());
  return status;
}

struct Opened {
  TrainRequest request;
  TrainableModel model;
  std::string dataset_hash;
};

absl::StatusOr<Opened> Open(const Arguments& arguments, Progress& progress) {
  PARTITA_ASSIGN_OR_RETURN(const TrainableKind* kind, FindTrainable(arguments));
  Opened opened;
  PARTITA_ASSIGN_OR_RETURN(opened.request,
                           ReadTrainRequest(arguments, kind->usual()));
  PARTITA_RETURN_IF_ERROR(KeepInputs(arguments));
  PARTITA_RETURN_IF_ERROR(CheckWrites(arguments));
  progress.Stage("open");
  PARTITA_ASSIGN_OR_RETURN(opened.model, kind->read(arguments));
  PARTITA_ASSIGN_OR_RETURN(opened.dataset_hash,
                           HashOf(opened.model.train, progress));
  PARTITA_RETURN_IF_ERROR(HashOf(opened.model.test, progress).status());
  const int64_t steps = StepsPerEpoch(opened.model, opened.request.drop_last);
  PARTITA_RETURN_IF_ERROR(CheckSteps(opened.model, steps, *kind));
  FillDecaySteps(arguments, steps, opened.request);
  return opened;
}

absl::Status Run(const Arguments& arguments) {
  Progress progress("train");
  PARTITA_ASSIGN_OR_RETURN(const Opened opened, Open(arguments, progress));
  const auto& [request, model, dataset_hash] = opened;
  PARTITA_ASSIGN_OR_RETURN(
      Prepared prepared,
      Prepare(request, model, dataset_hash, arguments, progress));
  if (arguments.has("plan")) {
    return ReportPlan(prepared.compiled, model.batch_norm_parts, arguments,
                      progress);
  }
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Session> session,
      Load(std::move(prepared.compiled.plan), arguments, progress));
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Trainer> trainer,
      NewTrainer(request, model, prepared, *session, arguments));
  TrainReport report = ReportHead(request, model, prepared, *trainer);
  report.notice = session->notice();
  report.replaced_kernels = session->ReplacedKernels();
  std::optional<Interruption> interruption(std::in_place);
  const bool as_json = arguments.has("json");
  progress.Done();
  if (!as_json) {
    PARTITA_RETURN_IF_ERROR(ReportIfUnread(
        AtPlace(absl::StrCat("before step ", report.first_step + 1),
                WriteText("-", TrainBeginText(report))),
        progress));
  }
  PARTITA_RETURN_IF_ERROR(
      ReportIfUnread(RunTraining(*trainer,
                                 {.session = session.get(),
                                  .test = model.test.samples,
                                  .batch_size = model.batch,
                                  .workers = request.workers,
                                  .interruption = &*interruption,
                                  .traces = arguments.has("trace"),
                                  .tells_epochs = !as_json},
                                 arguments, progress, report),
                     progress));
  if (interruption->came()) {
    report.interrupted = true;
    if (!arguments.has("checkpoint")) {
      EndUnkept(*interruption, report, progress);
    }
  } else {
    // A checkpoint does not continue what follows the training.
    interruption.reset();
  }
  report.untraced = arguments.has("trace") && report.trace.empty();
  report.checkpoint = arguments.Get("checkpoint", "");
  PARTITA_ASSIGN_OR_RETURN(report.loss_scale,
                           LossScaleOf(prepared.module, *session));
  absl::Status used;
  if (!report.interrupted) {
    used = UseTrained(model, prepared, *session, arguments, progress, report);
  }
  progress.Done();
  // Errors of using the model are returned after the report.
  const absl::Status reported =
      WriteText("-", as_json ? TrainJson(report) : TrainEndText(report));
  // Last, so that a full disk costs nothing else, and since the reader of the
  // report may have stopped reading.
  if (!report.trace.empty()) {
    PARTITA_RETURN_IF_ERROR(
        WriteText(arguments.Get("trace", ""), report.trace));
  }
  PARTITA_RETURN_IF_ERROR(ReportIfUnread(reported, progress));
  if (report.interrupted) interruption->Obey();
  return used;
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
    .flags = kTrainFlags,
    .groups = kTrainFlagGroups,
    .size_flags = SizeFlagsOf,
    .run = Run,
};

}  // namespace partita
