// Hashes the datasets, builds the step and collects the settings.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/training_setup.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/fingerprint.h"
#include "graph/status_macros.h"
#include "partita/train/dataset_hash.h"
#include "runtime/dataset/sampler.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

absl::StatusOr<std::string> HashOf(const TrainingData& data,
                                   const StageProgress& progress) {
  if (data.samples == nullptr) return std::string();
  if (data.samples->num_samples() == 0) {
    return BadFile(data.source, "no samples", "one or more",
                   "give a file that has some");
  }
  if (progress) progress(absl::StrCat("read ", data.source));
  const absl::StatusOr<ContentHash> hash = HashDataset(*data.samples);
  if (!hash.ok()) return AtPlace(data.source, hash.status());
  return hash->ToString();
}

absl::Status CheckRequest(const TrainingRequest& request,
                          const TrainableModel& model) {
  if (model.train.samples == nullptr) {
    return absl::InvalidArgumentError(
        "training: found no samples to train on; expected a dataset");
  }
  if (request.epochs < 1 || request.workers < 1 || request.export_batch < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "training: found ", request.epochs, " epochs, ", request.workers,
        " workers and an export batch of ", request.export_batch,
        "; expected one or more epochs and workers, and no negative batch"));
  }
  if (request.export_batch > 0 && model.rebatched == nullptr) {
    return absl::InvalidArgumentError(
        "training: found an export batch for a model that cannot be built with "
        "another batch; expected none");
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> StepsPerEpoch(const TrainableModel& model,
                                      bool drop_last) {
  PARTITA_ASSIGN_OR_RETURN(
      const Sampler sampler,
      Sampler::Create(
          model.train.samples->num_samples(),
          {.batch_size = model.batch,
           .last = drop_last ? LastBatch::kDrop : LastBatch::kPad}));
  return sampler.num_batches();
}

void FillDecaySteps(int64_t steps_per_epoch, TrainingRequest& request) {
  ScheduleOptions& schedule = request.recipe.update.schedule;
  if (schedule.steps > 0) return;
  schedule.steps = schedule.name == "step" ? steps_per_epoch
                                           : request.epochs * steps_per_epoch;
}

absl::Status SetUpExport(TrainingSetup& setup) {
  const TrainingRequest& request = setup.request;
  if (request.export_path.empty()) return absl::OkStatus();
  if (request.export_batch > 0) {
    PARTITA_ASSIGN_OR_RETURN(Module module,
                             setup.model.rebatched(request.export_batch));
    setup.rebatched = std::make_unique<const Module>(std::move(module));
  }
  return CheckExport(setup.exported(), request.export_path);
}

}  // namespace

ExportedFunction TrainingSetup::exported() const {
  const Module* inference = model.inference.get();
  const std::string name =
      inference == nullptr ? "evaluate" : inference->main().name();
  if (rebatched != nullptr) return {*rebatched, name};
  return {inference == nullptr ? module : *inference, name};
}

absl::StatusOr<TrainingSetup> SetUpTraining(TrainingRequest request,
                                            TrainableModel model,
                                            const StageProgress& progress) {
  TrainingSetup setup = {.request = std::move(request),
                         .model = std::move(model)};
  PARTITA_RETURN_IF_ERROR(CheckRequest(setup.request, setup.model));
  PARTITA_ASSIGN_OR_RETURN(const std::string hash,
                           HashOf(setup.model.train, progress));
  PARTITA_RETURN_IF_ERROR(HashOf(setup.model.test, progress).status());
  PARTITA_ASSIGN_OR_RETURN(setup.steps_per_epoch,
                           StepsPerEpoch(setup.model, setup.request.drop_last));
  FillDecaySteps(setup.steps_per_epoch, setup.request);
  PARTITA_ASSIGN_OR_RETURN(setup.module,
                           setup.model.build(setup.request.recipe));
  setup.settings = SettingsOf(setup.request, setup.model);
  setup.settings.push_back(
      {.name = "dataset", .value = hash, .fix = setup.request.same_samples});
  setup.settings.push_back({"graph", FingerprintOf(setup.module).ToString(),
                            TrainingSetting::Kind::kFollows});
  PARTITA_RETURN_IF_ERROR(SetUpExport(setup));
  return setup;
}

}  // namespace partita
