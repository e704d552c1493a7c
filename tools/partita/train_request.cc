// Reads the flags of every training.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/train_request.h"

#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/dtype.h"
#include "graph/gpu_split.h"
#include "graph/status_macros.h"
#include "partita/options/placing_flags.h"
#include "tools/partita/train_model_flags.h"

namespace partita {
namespace {

constexpr int64_t kMaxEpochs = 1'000'000;
constexpr int64_t kMaxWorkers = 64;
constexpr int64_t kMaxSteps = int64_t{1} << 40;
// As in PyTorch's AdamW; with 0 it would be Adam.
constexpr double kAdamWDecay = 0.01;
constexpr const char* kPrecisions[] = {"f32", "bf16", "f16"};

// A flag that the value of another makes meaningless.
absl::Status CheckTakes(const Arguments& arguments, absl::string_view flag,
                        bool takes, absl::string_view choice,
                        absl::string_view expected) {
  if (takes || !arguments.has(flag)) return absl::OkStatus();
  return CalledWrongly(absl::StrCat("--", flag, ": found with ", choice,
                                    ", which has none; expected ", expected));
}

absl::Status ReadNesterov(const Arguments& arguments,
                          OptimizerOptions& optimizer) {
  optimizer.nesterov = arguments.has("nesterov");
  PARTITA_RETURN_IF_ERROR(
      CheckTakes(arguments, "nesterov", optimizer.name == "sgd",
                 "optimizer " + optimizer.name, "--optimizer sgd"));
  if (!optimizer.nesterov || optimizer.momentum > 0) return absl::OkStatus();
  return CalledWrongly(
      "--nesterov: found with momentum 0; expected --momentum above 0");
}

absl::Status ReadOptimizer(const Arguments& arguments,
                           OptimizerOptions& optimizer) {
  const std::string own = optimizer.name;
  optimizer.name = arguments.Get("optimizer", own);
  if (optimizer.name == "adamw" && own != "adamw") {
    optimizer.weight_decay = kAdamWDecay;
  }
  PARTITA_RETURN_IF_ERROR(
      CheckTakes(arguments, "momentum", TakesMomentum(optimizer.name),
                 "optimizer " + optimizer.name, "--optimizer sgd or rmsprop"));
  PARTITA_ASSIGN_OR_RETURN(
      optimizer.momentum,
      arguments.GetBelow("momentum", optimizer.momentum, 1));
  PARTITA_ASSIGN_OR_RETURN(
      optimizer.weight_decay,
      arguments.GetDouble("weight-decay", optimizer.weight_decay));
  return ReadNesterov(arguments, optimizer);
}

// As in PyTorch's examples; the share left at a cosine's end is 0.
double UsualFactor(absl::string_view schedule) {
  if (schedule == "step") return 0.7;
  return schedule == "exponential" ? 0.999 : 0;
}

absl::Status ReadSchedule(const Arguments& arguments,
                          ScheduleOptions& schedule) {
  schedule.name = arguments.Get("schedule", schedule.name);
  const std::string choice = "schedule " + schedule.name;
  PARTITA_RETURN_IF_ERROR(CheckTakes(arguments, "decay-factor",
                                     TakesDecayFactor(schedule.name), choice,
                                     "--schedule step, exponential or cosine"));
  PARTITA_RETURN_IF_ERROR(CheckTakes(arguments, "decay-steps",
                                     TakesDecaySteps(schedule.name), choice,
                                     "--schedule step or cosine"));
  PARTITA_ASSIGN_OR_RETURN(
      schedule.learning_rate,
      arguments.GetDouble("learning-rate", schedule.learning_rate));
  PARTITA_ASSIGN_OR_RETURN(
      schedule.factor,
      arguments.GetDouble("decay-factor", UsualFactor(schedule.name)));
  PARTITA_ASSIGN_OR_RETURN(schedule.steps,
                           arguments.GetInt("decay-steps", 0, 1, kMaxSteps));
  PARTITA_ASSIGN_OR_RETURN(
      schedule.warm_up,
      arguments.GetInt("warm-up", schedule.warm_up, 0, kMaxSteps));
  return absl::OkStatus();
}

absl::StatusOr<UpdateRule> ReadUpdate(const Arguments& arguments,
                                      const UpdateRule& usual) {
  UpdateRule update = usual;
  PARTITA_RETURN_IF_ERROR(ReadOptimizer(arguments, update.optimizer));
  PARTITA_RETURN_IF_ERROR(ReadSchedule(arguments, update.schedule));
  PARTITA_ASSIGN_OR_RETURN(update.clip_norm,
                           arguments.GetDouble("clip-norm", update.clip_norm));
  PARTITA_ASSIGN_OR_RETURN(update.label_smoothing,
                           arguments.GetBelow("label-smoothing", 0, 1));
  update.precision = *ParseDType(arguments.Get("precision", kPrecisions[0]));
  return update;
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

}  // namespace

std::vector<std::string> PrecisionNames() {
  return {std::begin(kPrecisions), std::end(kPrecisions)};
}

std::vector<std::string> NanChoices() { return {"stop", "continue"}; }

absl::StatusOr<int64_t> ReadSeed(const Arguments& arguments) {
  return arguments.GetInt("seed", 1, 0, std::numeric_limits<int64_t>::max());
}

absl::StatusOr<TrainingRequest> ReadTrainRequest(const Arguments& arguments,
                                                 const UpdateRule& usual) {
  TrainingRequest request = {.model = arguments.positional()[0]};
  PARTITA_ASSIGN_OR_RETURN(
      request.epochs,
      arguments.GetInt("epochs", request.epochs, 1, kMaxEpochs));
  request.drop_last = arguments.has("drop-last");
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t workers,
      arguments.GetInt("workers", request.workers, 1, kMaxWorkers));
  request.workers = static_cast<int>(workers);
  PARTITA_ASSIGN_OR_RETURN(const int64_t seed, ReadSeed(arguments));
  request.recipe.seed = static_cast<uint64_t>(seed);
  PARTITA_ASSIGN_OR_RETURN(request.recipe.update, ReadUpdate(arguments, usual));
  request.export_path = arguments.Get("export", "");
  PARTITA_ASSIGN_OR_RETURN(
      request.export_batch,
      arguments.GetInt("export-batch", 0, 1, kMaxModelSize));
  request.same_samples = GiveTheSameData(arguments);
  return request;
}

absl::StatusOr<TrainingRunOptions> ReadRunOptions(const Arguments& arguments) {
  TrainingRunOptions options = {
      .stop_at_nan = arguments.Get("nan", "stop") == "stop",
      .checkpoint = arguments.Get("checkpoint", ""),
      .resume = arguments.Get("resume", ""),
      .loss_table = arguments.Get("csv", ""),
      .trace = arguments.has("trace")};
  if (arguments.has("virtual")) options.load.devices = DeviceMode::kVirtual;
  PARTITA_ASSIGN_OR_RETURN(const GpuSplit split, ReadSplitGpuFlag(arguments));
  options.load.split_gpu = split.shares;
  if (arguments.has("another-plan")) {
    options.resume_on = ResumeOn::kAnotherPlan;
  }
  PARTITA_ASSIGN_OR_RETURN(
      options.every,
      arguments.GetInt("every", 0, 1, std::numeric_limits<int64_t>::max()));
  return options;
}

}  // namespace partita
