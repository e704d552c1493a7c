// partita train: a model, a dataset, epochs of steps, checkpoints.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/builder/inference_training.h"
#include "graph/builder/loss_scaling.h"
#include "graph/builder/update_rule.h"
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
#include "runtime/tensor_file/bad_file.h"
#include "tools/partita/input_files.h"
#include "tools/partita/interruption.h"
#include "tools/partita/loss_table.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/subcommand.h"
#include "tools/partita/train_log.h"
#include "tools/partita/train_report.h"
#include "tools/partita/train_request.h"
#include "tools/partita/trainable_models.h"

namespace partita {
namespace {

constexpr int64_t kMaxBatch = 1 << 16;

std::vector<std::string> NanChoices() { return {"stop", "continue"}; }

constexpr FlagDef kOwnFlags[] = {
    {"images", "FILE",
     "what to train on: IDX, plain or gzip, .npy, or .npz with an array images",
     nullptr, FileUse::kReads},
    {"labels", "FILE",
     "what each image or sample is; a .npz has an array labels", nullptr,
     FileUse::kReads},
    {"test-images", "FILE", "evaluate on these after each epoch", nullptr,
     FileUse::kReads},
    {"test-labels", "FILE", "what each of these is", nullptr, FileUse::kReads},
    {"input", "NAME=FILE",
     "of an ONNX model: IDX, .npy, .npz with an array NAME, or .csv; one for "
     "each input",
     nullptr, FileUse::kReadsBound, true},
    {"test-input", "NAME=FILE", "the same, to evaluate on", nullptr,
     FileUse::kReadsBound, true},
    {"label-column", "NAME",
     "of a .csv file of labels: the column, or its number from 1; of an "
     "input in the same file the others"},
    {"loss", "NAME", "of an ONNX model: cross-entropy (default), nll or mse",
     LossNames},
    {"label-smoothing", "X",
     "the share of a label's weight that is spread over all classes (default "
     "0)"},
    {"text", "FILE", "the text to train on, in UTF-8; repeatable", nullptr,
     FileUse::kReads, true},
    {"test-share", "X", "of the text, its end, to evaluate on (default 0.1)"},
    {"batch", "N", "samples a step; the model's own if left out"},
    {"drop-last", nullptr,
     "leave out an epoch's last batch if it is not whole; else it is filled up "
     "with samples that do not count"},
    {"workers", "N",
     "threads that read batches ahead, for the same numbers: 1 to 64 (default "
     "1)"},
    {"epochs", "N", "how often every sample is seen (default 10)"},
    {"seed", "N", "of weights, dropout and the samples' order (default 1)"},
    {"optimizer", "NAME",
     "sgd, adam, adamw, adagrad or rmsprop; the model's own if left out",
     OptimizerNames},
    {"learning-rate", "X", "the largest; the model's own if left out"},
    {"momentum", "X", "of sgd and rmsprop; the model's own if left out"},
    {"nesterov", nullptr, "of sgd: Nesterov's momentum"},
    {"weight-decay", "X",
     "of the optimizer; if left out the model's own, or 0.01 of an adamw that "
     "is not"},
    {"schedule", "NAME",
     "of the learning rate: constant (default), step, exponential or cosine",
     ScheduleNames},
    {"decay-factor", "X",
     "by which the rate falls: each time (step: 0.7), each step "
     "(exponential: 0.999) or to the end (cosine: 0)"},
    {"decay-steps", "N",
     "between two falls (step: an epoch) or to the end (cosine: all epochs)"},
    {"warm-up", "N", "steps over which the rate grows first (default 0)"},
    {"clip-norm", "X",
     "the most that the gradients' 2-norm may be (0: as it is)"},
    {"precision", "NAME",
     "of matrix products and convolutions, forward and backward: f32 "
     "(default), bf16, or f16 with a scaled loss",
     PrecisionNames},
    {"dropout", "X",
     "the probability that a number is left out; the model's own if left out"},
    {"mean", "X[,X..]",
     "is taken off inputs, bytes as 0..1; one for all, or one a channel; the "
     "model's own if left out"},
    {"stddev", "X[,X..]",
     "by which they are divided then; the model's own if left out"},
    {"classes", "N", "of builtin:resnet18 (default 10)"},
    {"batch-norm", "KIND",
     "of builtin:resnet18 and ONNX models: by statistics of the whole batch, "
     "synchronised (default), or with --replicas per-replica, as PyTorch's "
     "DistributedDataParallel",
     BatchNormKinds},
    {"width", "N", "numbers a character, where --text is read (default 128)"},
    {"context", "N", "characters seen at once; the model's own if left out"},
    {"layers", "N", "of builtin:gpt: blocks (default 4)"},
    {"heads", "N", "of builtin:gpt: of attention (default 4)"},
    {"untied", nullptr, "of builtin:gpt: scores by weights of their own"},
    {"sample", "N", "characters to write at the end, where --text is read"},
    {"temperature", "X", "of what it writes (default 1; 0: the likeliest)"},
    {"virtual", nullptr, "host memory and threads play all devices"},
    // Written, but perhaps over the file of --resume.
    {"checkpoint", "FILE", "keep the training there, as safetensors"},
    {"every", "STEPS", "how often; once an epoch if left out"},
    {"resume", "FILE", "continue the training of this checkpoint", nullptr,
     FileUse::kReads},
    {"another-plan", nullptr,
     "with --resume: by other devices, strategy or pins, so that numbers "
     "differ by rounding"},
    {"export", "FILE", "write the trained model as ONNX", nullptr,
     FileUse::kWritesModel},
    {"export-batch", "N",
     "the batch of the exported model; that of the training if left out"},
    {"nan", "stop|continue", "where a loss is no finite number (default stop)",
     NanChoices},
    {"csv", "FILE",
     "write step, epoch, loss and the seconds of training until then, for each "
     "step",
     nullptr, FileUse::kWrites},
    {"trace", "FILE",
     "write the last step's measured timeline in Chrome's format, at the end",
     nullptr, FileUse::kWrites},
    {"json", nullptr, "report as JSON"},
};
constexpr auto kFlags = JoinFlags(kOwnFlags, kModelFlags, kPlacementFlags);

// A flag that says something about another one.
absl::Status CheckTogether(const Arguments& arguments) {
  for (const auto& [flag, about] :
       {std::pair("every", "checkpoint"), std::pair("another-plan", "resume"),
        std::pair("temperature", "sample"),
        std::pair("export-batch", "export")}) {
    if (!arguments.has(flag) || arguments.has(about)) continue;
    return CalledWrongly(absl::StrCat("--", flag, ": found it without --",
                                      about, "; expected both"));
  }
  // No model that is trained carries pins of its own.
  if (arguments.Get("strategy", "") != "pinned" || arguments.has("pin")) {
    return absl::OkStatus();
  }
  return CalledWrongly("--strategy: found pinned without --pin; expected both");
}

// Standard output has the lines of the epochs already.
absl::Status CheckNoDash(const Arguments& arguments) {
  for (const char* flag : {"checkpoint", "export", "csv", "trace"}) {
    if (arguments.Get(flag, "") != "-") continue;
    return CalledWrongly(
        absl::StrCat("--", flag,
                     ": found -, and standard output tells how the "
                     "training goes; expected the name of a file"));
  }
  return absl::OkStatus();
}

// A checkpoint may replace the one that it continues, and no other input.
absl::Status KeepInputs(const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(CheckTogether(arguments));
  PARTITA_RETURN_IF_ERROR(CheckNoDash(arguments));
  if (!arguments.has("checkpoint")) return absl::OkStatus();
  return InputFiles(arguments.With("resume", {}), kFlags)
      .Keep("checkpoint", arguments.Get("checkpoint", ""));
}

// Reads every sample, so that one at fault is found before the first step.
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
      "--drop-last: found ", model.train.samples->num_samples(), " ",
      model.samples_name, ", less than a batch of ", model.batch,
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

// A session of the compiled model, and what it and its checkpoints go by.
struct Prepared {
  Module module;  // as it was before it was compiled
  // What is exported in its place, where --export-batch is given.
  std::unique_ptr<const Module> rebatched;
  std::unique_ptr<Session> session;
  std::string strategy;
  Fallbacks fallbacks;
  double step_seconds = 0;  // predicted
  double repeated_share = 0;
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

// Statistics are those of a replica only where each has one part of the batch.
absl::Status CheckReplicas(const Module& placed, const Arguments& arguments) {
  if (!IsBatchNormPerReplica(arguments)) return absl::OkStatus();
  size_t replicas = 1;
  for (const OpView& variable : placed.main().ops(kVariable)) {
    replicas = std::max(replicas, variable.node().placement.devices.size());
  }
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t asked,
      arguments.GetInt("replicas", 0, 1, std::numeric_limits<int64_t>::max()));
  if (static_cast<int64_t>(replicas) == asked) return absl::OkStatus();
  return CalledWrongly(
      absl::StrCat("--replicas: found ", asked, ", and the plan has ", replicas,
                   "; expected as many for --batch-norm per-replica; take ",
                   replicas, ", or a machine with ", asked, " equal devices"));
}

// What to do where a checkpoint is of another dataset.
std::string GiveTheSameData(const Arguments& arguments) {
  std::vector<std::string> given;
  for (const char* flag :
       {"images", "input", "text", "labels", "label-column"}) {
    if (arguments.has(flag)) given.push_back(absl::StrCat("--", flag));
  }
  return absl::StrCat("give by ", absl::StrJoin(given, " and "),
                      " the samples that the training was begun with");
}

absl::StatusOr<Prepared> Prepare(const TrainRequest& request,
                                 const TrainableModel& model,
                                 const std::string& dataset_hash,
                                 const Arguments& arguments,
                                 Progress& progress) {
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  options.progress = [&](absl::string_view name) { progress.Stage(name); };
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
  PARTITA_ASSIGN_OR_RETURN(Compiled compiled,
                           Compile(module.Clone(), machine, options));
  PARTITA_RETURN_IF_ERROR(CheckReplicas(compiled.plan.module, arguments));
  prepared.module = std::move(module);
  prepared.strategy = compiled.report.strategy;
  prepared.fallbacks = std::move(compiled.report.fallbacks);
  const EntryReport& step = compiled.report.entries.front();
  prepared.step_seconds = step.step_seconds;
  prepared.repeated_share = step.repeated_share;
  // Placements and kernels: another plan has the same numbers but for rounding.
  prepared.settings.push_back({"plan",
                               FingerprintOf(compiled.plan.module).ToString(),
                               TrainingSetting::Kind::kRounds});
  LoadOptions load;
  if (arguments.has("virtual")) {
    load.devices = DeviceMode::kVirtual;
    // A device that is played computes as this host can, whatever the plan
    // says.
    prepared.settings.push_back({"instruction sets",
                                 absl::StrJoin(ThisHost().isas, " "),
                                 TrainingSetting::Kind::kRounds});
  }
  progress.Stage("load");
  PARTITA_ASSIGN_OR_RETURN(
      prepared.session,
      Session::Create(std::make_shared<const Plan>(std::move(compiled.plan)),
                      load));
  return prepared;
}

absl::StatusOr<std::unique_ptr<Trainer>> NewTrainer(
    const TrainRequest& request, const TrainableModel& model,
    const Prepared& prepared, const Arguments& arguments) {
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
      Trainer::Create(*prepared.session, model.train.samples,
                      std::move(options)));
  if (arguments.has("resume")) {
    PARTITA_RETURN_IF_ERROR(trainer->Resume(arguments.Get("resume", ""),
                                            arguments.has("another-plan")
                                                ? ResumeOn::kAnotherPlan
                                                : ResumeOn::kSamePlan));
  }
  return trainer;
}

TrainReport ReportHead(const TrainRequest& request, const TrainableModel& model,
                       const Prepared& prepared, const Trainer& trainer) {
  return {.model = request.model,
          .strategy = prepared.strategy,
          .fallbacks = prepared.fallbacks,
          .step_seconds = prepared.step_seconds,
          .repeated_share = prepared.repeated_share,
          .samples_name = model.samples_name,
          .samples = model.train.samples->num_samples(),
          .class_names = model.class_names,
          .epochs = request.epochs,
          .steps_per_epoch = trainer.steps_per_epoch(),
          .first_step = trainer.position().step,
          .by_another_plan = trainer.resumed_by_another_plan(),
          .step = trainer.position().step};
}

// A training that is resumed goes on with the table that it began.
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

// Null where the loss is not scaled.
absl::StatusOr<std::optional<LossScaleReport>> LossScaleOf(
    const Prepared& prepared) {
  if (prepared.module.FindVariable(kLossScale) == nullptr) return std::nullopt;
  Session& session = *prepared.session;
  PARTITA_ASSIGN_OR_RETURN(const HostTensor scale,
                           session.ReadVariable(kLossScale));
  PARTITA_ASSIGN_OR_RETURN(const HostTensor skipped,
                           session.ReadVariable(kSkippedSteps));
  return LossScaleReport{GetAsDouble(scale, 0),
                         static_cast<int64_t>(GetAsDouble(skipped, 0))};
}

// What becomes of the trained model: a text, a file.
absl::Status UseTrained(const TrainableModel& model, const Prepared& prepared,
                        const Arguments& arguments, Progress& progress,
                        TrainReport& report) {
  if (arguments.has("export")) {
    progress.Stage("export");
    report.exported = arguments.Get("export", "");
    PARTITA_RETURN_IF_ERROR(ExportEvaluation(
        ExportedOf(model, prepared.module, prepared.rebatched.get()),
        *prepared.session, report.exported));
  }
  if (model.generate == nullptr) return absl::OkStatus();
  progress.Stage("generate");
  PARTITA_ASSIGN_OR_RETURN(report.generated, model.generate(*prepared.session));
  return absl::OkStatus();
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
      const Prepared prepared,
      Prepare(request, model, dataset_hash, arguments, progress));
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                           NewTrainer(request, model, prepared, arguments));
  TrainReport report = ReportHead(request, model, prepared, *trainer);
  // Without a checkpoint there is nothing to end in order for.
  std::optional<Interruption> interruption;
  if (arguments.has("checkpoint")) interruption.emplace();
  const bool as_json = arguments.has("json");
  progress.Done();
  if (!as_json) {
    PARTITA_RETURN_IF_ERROR(WriteText("-", TrainBeginText(report)));
  }
  PARTITA_RETURN_IF_ERROR(RunTraining(
      *trainer,
      {.session = prepared.session.get(),
       .test = model.test.samples,
       .batch_size = model.batch,
       .workers = request.workers,
       .interruption = interruption.has_value() ? &*interruption : nullptr,
       .traces = arguments.has("trace"),
       .tells_epochs = !as_json},
      arguments, progress, report));
  if (interruption.has_value() && interruption->came()) {
    report.interrupted = true;
  } else {
    // What follows the training is not continued by a checkpoint.
    interruption.reset();
  }
  report.untraced = arguments.has("trace") && report.trace.empty();
  report.checkpoint = arguments.Get("checkpoint", "");
  PARTITA_ASSIGN_OR_RETURN(report.loss_scale, LossScaleOf(prepared));
  if (!report.interrupted) {
    PARTITA_RETURN_IF_ERROR(
        UseTrained(model, prepared, arguments, progress, report));
  }
  progress.Done();
  PARTITA_RETURN_IF_ERROR(
      WriteText("-", as_json ? TrainJson(report) : TrainEndText(report)));
  // Last, so that a disk without room for it costs nothing else.
  if (!report.trace.empty()) {
    PARTITA_RETURN_IF_ERROR(
        WriteText(arguments.Get("trace", ""), report.trace));
  }
  if (report.interrupted) interruption->Obey();
  return absl::OkStatus();
}

}  // namespace

const Subcommand kTrainCommand = {
    .name = "train",
    .usage = "train MODEL --images FILE --labels FILE",
    .doc =
        "Trains a model on a dataset, and evaluates it after each epoch.\n"
        "MODEL is builtin:mnist or builtin:resnet18, on --images with "
        "--labels; builtin:gpt\nor builtin:lstm, on --text; or an ONNX model, "
        "on an --input for each of its\ninputs with --labels.\n"
        "With --checkpoint the training is kept in a file every so many "
        "steps, and at\nSIGINT and SIGTERM, after the step that is being "
        "done; --resume continues it\nbit for bit as if it had never been "
        "interrupted. A checkpoint of another model,\nof other options, "
        "another dataset or another plan is refused by name; with\n"
        "--another-plan the training goes on by another plan, to rounding.\n"
        "--export writes what evaluates the trained model, for `partita run` "
        "and others.\n"
        "On a host that other programs keep busy set OMP_WAIT_POLICY=passive "
        "in the\nenvironment, as for `partita run`.",
    .operand = "model",
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
