// partita train: a model, a dataset, epochs of steps, checkpoints.
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/chosen_optimizer.h"
#include "graph/fingerprint.h"
#include "graph/status_macros.h"
#include "partita/compile.h"
#include "partita/session.h"
#include "partita/train/dataset_hash.h"
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

namespace partita {
namespace {

std::vector<std::string> NanChoices() { return {"stop", "continue"}; }

constexpr FlagDef kFlags[] = {
    {"images", "FILE", "IDX or .npy, plain or gzip: what to train on", nullptr,
     FileUse::kReads},
    {"labels", "FILE", "the class of each image", nullptr, FileUse::kReads},
    {"test-images", "FILE", "evaluate on these after each epoch", nullptr,
     FileUse::kReads},
    {"test-labels", "FILE", "the class of each test image", nullptr,
     FileUse::kReads},
    {"batch", "N", "images a step (default 64)"},
    {"epochs", "N", "how often every image is seen (default 10)"},
    {"seed", "N", "of weights, dropout and the images' order (default 1)"},
    {"optimizer", "NAME", "sgd (default), adam, adamw, adagrad or rmsprop",
     OptimizerNames},
    {"learning-rate", "X", "of the optimizer (default 0.01)"},
    {"momentum", "X", "of sgd and rmsprop (default 0.5)"},
    {"weight-decay", "X", "of the optimizer (default 0)"},
    {"dropout", "X", "the probability that a number is left out (default 0.5)"},
    {"mean", "X", "of the images' bytes as 0..1 (default 0.1307)"},
    {"stddev", "X", "of the images' bytes as 0..1 (default 0.3081)"},
    kMachineFlag,
    kStrategyFlag,
    kGoalFlag,
    kPinFlag,
    kDeviceFlag,
    kStagesFlag,
    kReplicasFlag,
    kIeeeFlag,
    {"virtual", nullptr, "host memory and threads play all devices"},
    // Written, but perhaps over the file of --resume.
    {"checkpoint", "FILE", "keep the training there, as safetensors"},
    {"every", "STEPS", "how often; once an epoch if left out"},
    {"resume", "FILE", "continue the training of this checkpoint", nullptr,
     FileUse::kReads},
    {"nan", "stop|continue", "where a loss is no finite number (default stop)",
     NanChoices},
    {"csv", "FILE", "write step, epoch, loss and seconds of each step", nullptr,
     FileUse::kWrites},
    {"trace", "FILE",
     "write the last step's measured timeline in Chrome's format", nullptr,
     FileUse::kWrites},
    {"json", nullptr, "report as JSON"},
};

// A checkpoint may replace the one that it continues, and no other input.
absl::Status KeepInputs(const Arguments& arguments) {
  if (!arguments.has("checkpoint")) {
    if (!arguments.has("every")) return absl::OkStatus();
    return CalledWrongly(
        "--every: found it without --checkpoint; expected both");
  }
  return InputFiles(arguments.With("resume", {}), kFlags)
      .Keep("checkpoint", arguments.Get("checkpoint", ""));
}

struct Images {
  SharedDataset dataset;  // null: none asked for
  std::string hash;
};

// Reads every sample, so that a label that is none is found before the first
// step.
absl::StatusOr<Images> OpenImages(const LabelledImages& files,
                                  Progress& progress) {
  if (files.images.empty()) return Images();
  progress.Stage(absl::StrCat("read ", files.images));
  Images images;
  PARTITA_ASSIGN_OR_RETURN(images.dataset, OpenLabelledImages(files));
  const absl::StatusOr<ContentHash> hash = HashDataset(*images.dataset);
  if (!hash.ok()) return AtPlace(files.labels, hash.status());
  images.hash = hash->ToString();
  return images;
}

// A session of the compiled network, and what it and its checkpoints go by.
struct Prepared {
  std::unique_ptr<Session> session;
  std::string strategy;
  std::vector<TrainingSetting> settings;
};

absl::StatusOr<Prepared> Prepare(const TrainRequest& request,
                                 const std::string& dataset_hash,
                                 const Arguments& arguments,
                                 Progress& progress) {
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  options.progress = [&](absl::string_view name) { progress.Stage(name); };
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, ReadMachineFlag(arguments));
  PARTITA_ASSIGN_OR_RETURN(Module module, MnistTraining(request.network));
  Prepared prepared;
  prepared.settings = SettingsOf(request);
  prepared.settings.push_back({"dataset", dataset_hash});
  prepared.settings.push_back(
      {"graph", FingerprintOf(module).ToString(), true});
  PARTITA_ASSIGN_OR_RETURN(Compiled compiled,
                           Compile(std::move(module), machine, options));
  prepared.strategy = compiled.report.strategy;
  // Placements and kernels: another plan has the same numbers but for rounding.
  prepared.settings.push_back(
      {"plan", FingerprintOf(compiled.plan.module).ToString(), true});
  LoadOptions load;
  if (arguments.has("virtual")) load.devices = DeviceMode::kVirtual;
  progress.Stage("load");
  PARTITA_ASSIGN_OR_RETURN(
      prepared.session,
      Session::Create(std::make_shared<const Plan>(std::move(compiled.plan)),
                      load));
  return prepared;
}

absl::StatusOr<std::unique_ptr<Trainer>> NewTrainer(
    const TrainRequest& request, const Prepared& prepared,
    SharedDataset dataset, const Arguments& arguments) {
  TrainerOptions options = {
      .batch_size = request.network.batch,
      .epochs = request.epochs,
      .seed = request.network.seed,
      .stop_at_nan = arguments.Get("nan", "stop") == "stop",
      .checkpoint = arguments.Get("checkpoint", ""),
      .run = {.trace = arguments.has("trace")},
      .settings = prepared.settings};
  PARTITA_ASSIGN_OR_RETURN(
      options.every,
      arguments.GetInt("every", 0, 1, std::numeric_limits<int64_t>::max()));
  PARTITA_ASSIGN_OR_RETURN(
      std::unique_ptr<Trainer> trainer,
      Trainer::Create(*prepared.session, std::move(dataset),
                      std::move(options)));
  if (arguments.has("resume")) {
    PARTITA_RETURN_IF_ERROR(trainer->Resume(arguments.Get("resume", "")));
  }
  return trainer;
}

TrainReport ReportHead(const TrainRequest& request, const Prepared& prepared,
                       const Trainer& trainer, int64_t samples) {
  return {.model = request.model,
          .strategy = prepared.strategy,
          .samples = samples,
          .epochs = request.epochs,
          .steps_per_epoch = trainer.steps_per_epoch(),
          .first_step = trainer.position().step,
          .step = trainer.position().step};
}

absl::Status RunTraining(Trainer& trainer, TrainLogOptions log_options,
                         const Arguments& arguments, Progress& progress,
                         TrainReport& report) {
  std::optional<LossTable> table;
  if (arguments.has("csv")) {
    PARTITA_ASSIGN_OR_RETURN(table,
                             LossTable::Create(arguments.Get("csv", "")));
    log_options.table = &*table;
  }
  TrainLog log(log_options, progress, report);
  PARTITA_ASSIGN_OR_RETURN(const TrainingEnd end, trainer.Run(log));
  report.interrupted = end == TrainingEnd::kStopped;
  return log.End();
}

absl::Status Run(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(const TrainRequest request,
                           ReadTrainRequest(arguments));
  PARTITA_RETURN_IF_ERROR(KeepInputs(arguments));
  Progress progress("train");
  PARTITA_ASSIGN_OR_RETURN(const Images train,
                           OpenImages(request.train, progress));
  PARTITA_ASSIGN_OR_RETURN(const Images test,
                           OpenImages(request.test, progress));
  PARTITA_ASSIGN_OR_RETURN(const Prepared prepared,
                           Prepare(request, train.hash, arguments, progress));
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Trainer> trainer,
      NewTrainer(request, prepared, train.dataset, arguments));
  TrainReport report =
      ReportHead(request, prepared, *trainer, train.dataset->num_samples());
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
       .test = test.dataset,
       .batch_size = request.network.batch,
       .interruption = interruption.has_value() ? &*interruption : nullptr,
       .trace = arguments.Get("trace", ""),
       .tells_epochs = !as_json},
      arguments, progress, report));
  report.checkpoint = arguments.Get("checkpoint", "");
  progress.Done();
  PARTITA_RETURN_IF_ERROR(
      WriteText("-", as_json ? TrainJson(report) : TrainEndText(report)));
  if (report.interrupted) interruption->Obey();
  return absl::OkStatus();
}

}  // namespace

const Subcommand kTrainCommand = {
    .name = "train",
    .usage = "train builtin:mnist --images FILE --labels FILE",
    .doc =
        "Trains a model on a dataset, and evaluates it after each epoch.\n"
        "With --checkpoint the training is kept in a file every so many "
        "steps, and at\nSIGINT and SIGTERM, after the step that is being "
        "done; --resume continues it\nbit for bit as if it had never been "
        "interrupted. A checkpoint of another model,\nof other options, "
        "another dataset or another plan is refused by name.\n"
        "On a host that other programs keep busy set OMP_WAIT_POLICY=passive "
        "in the\nenvironment, as for `partita run`.",
    .operand = "model",
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
