// Steps, checkpoints and ends of a training.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/trainer.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/atomic_file.h"
#include "graph/status_macros.h"
#include "partita/train/batch_inputs.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

constexpr char kEntry[] = "train";
constexpr char kLoss[] = "loss";

absl::Status CheckPosition(const std::string& path,
                           const TrainingPosition& position,
                           int64_t steps_per_epoch) {
  const bool agrees = position.epoch == position.step / steps_per_epoch &&
                      position.batch == position.step % steps_per_epoch;
  if (agrees) return absl::OkStatus();
  return BadFile(path,
                 absl::StrCat("step ", position.step, " at epoch ",
                              position.epoch, " batch ", position.batch),
                 absl::StrCat("epochs of ", steps_per_epoch, " batches"),
                 "the file is damaged");
}

std::string StepText(const TrainingPosition& position) {
  return absl::StrCat("step ", position.step + 1, " (epoch ",
                      position.epoch + 1, " batch ", position.batch + 1, ")");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Create(
    Session& session, SharedDataset dataset, TrainerOptions options) {
  PARTITA_ASSIGN_OR_RETURN(
      const Sampler sampler,
      Sampler::Create(
          dataset->num_samples(),
          {.batch_size = options.batch_size,
           .seed = options.seed,
           .last = options.drop_last ? LastBatch::kDrop : LastBatch::kPad}));
  // Before hours of training rather than after.
  if (!options.checkpoint.empty()) {
    PARTITA_RETURN_IF_ERROR(CheckWritable(options.checkpoint));
  }
  std::unique_ptr<Trainer> trainer(
      new Trainer(session, std::move(dataset), sampler, std::move(options)));
  PARTITA_RETURN_IF_ERROR(trainer->CheckInputs());
  return trainer;
}

Trainer::Trainer(Session& session, SharedDataset dataset,
                 const Sampler& sampler, TrainerOptions options)
    : session_(session),
      dataset_(std::move(dataset)),
      sampler_(sampler),
      options_(std::move(options)) {}

absl::Status Trainer::CheckInputs() const {
  PARTITA_RETURN_IF_ERROR(session_.UseEntry(kEntry));
  return CheckBatchInputs(session_, *dataset_, options_.batch_size);
}

absl::Status Trainer::Resume(const std::string& path, ResumeOn resume_on) {
  PARTITA_ASSIGN_OR_RETURN(
      const ResumedTraining resumed,
      ReadCheckpoint(path, options_.settings, session_, resume_on));
  PARTITA_RETURN_IF_ERROR(
      CheckPosition(path, resumed.position, steps_per_epoch()));
  if (resumed.position.step > num_steps()) {
    return BadFile(
        path, absl::StrCat("a training after step ", resumed.position.step),
        absl::StrCat("at most the ", num_steps(), " steps of ", options_.epochs,
                     " epochs"),
        "train for more epochs, or continue another checkpoint");
  }
  position_ = resumed.position;
  resumed_by_another_plan_ = resumed.by_another_plan;
  return absl::OkStatus();
}

absl::StatusOr<TrainingEnd> Trainer::Run(TrainingObserver& observer) {
  TrainingEnd end = TrainingEnd::kDone;
  first_step_ = position_.step;
  if (!options_.checkpoint.empty() || position_.step > 0) {
    PARTITA_ASSIGN_OR_RETURN(not_finite_, VariablesNotFinite(session_));
  }
  if (position_.epoch < options_.epochs) {
    PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Loader> loader,
                             Loader::Create(dataset_, sampler_,
                                            {.workers = options_.workers,
                                             .buffers = options_.workers + 2,
                                             .first_epoch = position_.epoch,
                                             .first_batch = position_.batch,
                                             .end_epoch = options_.epochs}));
    PARTITA_ASSIGN_OR_RETURN(end, RunBatches(*loader, observer));
    seconds_waited_ = loader->seconds_waited();
  }
  PARTITA_RETURN_IF_ERROR(KeepCheckpoint());
  return end;
}

absl::StatusOr<TrainingEnd> Trainer::RunBatches(Loader& loader,
                                                TrainingObserver& observer) {
  while (true) {
    absl::StatusOr<std::optional<LoadedBatch>> batch = loader.Next();
    if (!batch.ok()) return KeepDespite(batch.status());
    if (!batch->has_value()) return TrainingEnd::kDone;
    PARTITA_ASSIGN_OR_RETURN(const TrainingStep step, Step(**batch));
    absl::Status observed = observer.OnStep(step);
    PARTITA_RETURN_IF_ERROR(CheckLoss(step, **batch));
    batch->reset();
    Advance();
    if (observed.ok() && IsCheckpointDue()) {
      PARTITA_RETURN_IF_ERROR(KeepCheckpoint());
    }
    if (observed.ok() && position_.batch == 0)
      observed = observer.OnEpoch(step.epoch);
    if (!observed.ok()) return KeepDespite(observed);
    if (observer.WantsStop()) return TrainingEnd::kStopped;
  }
}

absl::StatusOr<TrainingStep> Trainer::Step(LoadedBatch& batch) {
  PARTITA_RETURN_IF_ERROR(session_.UseEntry(kEntry));
  IgnoreFilling(*dataset_, kIgnoredLabel, batch);
  PARTITA_RETURN_IF_ERROR(BindBatch(*dataset_, batch, session_));
  const absl::Status run = session_.Run(options_.run);
  if (!run.ok()) return AtPlace(StepText(position_), run);
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* loss, session_.GetOutput(kLoss));
  return TrainingStep{.epoch = position_.epoch,
                      .batch = position_.batch,
                      .step = position_.step,
                      .loss = GetAsDouble(*loss, 0),
                      .samples = batch.share().batch_counted,
                      .labels = CountKnownLabels(*dataset_, batch)};
}

absl::Status Trainer::CheckLoss(const TrainingStep& step,
                                const LoadedBatch& batch) const {
  if (!options_.stop_at_nan || std::isfinite(step.loss)) {
    return absl::OkStatus();
  }
  PARTITA_ASSIGN_OR_RETURN(const std::string fault, FaultOf(batch));
  return absl::FailedPreconditionError(
      absl::StrCat(StepText(position_), ": found loss ",
                   std::isnan(step.loss) ? "nan" : "infinity", fault,
                   ", or go on by --nan continue"));
}

// A batch may spoil the weights without spoiling its own loss.
absl::StatusOr<std::string> Trainer::FaultOf(const LoadedBatch& batch) const {
  std::string how = ", as of its batch in ";
  std::string place = FindNotFinite(*dataset_, batch);
  if (place.empty() && !not_finite_.empty()) {
    return absl::StrCat(", perhaps as of variable ", not_finite_[0],
                        ", which was not finite when this run began; expected "
                        "finite numbers; resume an earlier checkpoint");
  }
  if (place.empty()) {
    how = ", perhaps as of an earlier batch in ";
    PARTITA_ASSIGN_OR_RETURN(place, FindNotFiniteSample(*dataset_));
  }
  if (place.empty()) {
    return std::string("; expected a finite number; lower the learning rate");
  }
  return absl::StrCat(
      how, place, "; correct the dataset, or the numbers that normalize it");
}

void Trainer::Advance() {
  ++position_.step;
  if (++position_.batch < steps_per_epoch()) return;
  position_.batch = 0;
  ++position_.epoch;
}

bool Trainer::IsCheckpointDue() const {
  const int64_t every = options_.every > 0 ? options_.every : steps_per_epoch();
  return position_.step % every == 0;
}

absl::Status Trainer::KeepDespite(const absl::Status& failure) {
  if (options_.checkpoint.empty() || position_.step == first_step_) {
    return failure;
  }
  const absl::Status kept = KeepCheckpoint();
  return WithMessage(
      failure,
      kept.ok()
          ? absl::StrCat(failure.message(), "; the training after step ",
                         position_.step, " is kept in ", options_.checkpoint)
          : absl::StrCat(failure.message(), "\n  ", kept.message()));
}

// The loss is that of the weights before the step.
absl::Status Trainer::CheckVariables() const {
  if (!options_.stop_at_nan) return absl::OkStatus();
  PARTITA_ASSIGN_OR_RETURN(const std::vector<std::string> found,
                           VariablesNotFinite(session_));
  for (const std::string& name : found) {
    if (absl::c_linear_search(not_finite_, name)) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "checkpoint after step ", position_.step, ": found variable ", name,
        " with numbers that are not finite; expected finite ones, and left the "
        "file as it was; lower the learning rate, or go on by --nan continue"));
  }
  return absl::OkStatus();
}

absl::Status Trainer::KeepCheckpoint() {
  if (options_.checkpoint.empty() || kept_step_ == position_.step) {
    return absl::OkStatus();
  }
  PARTITA_RETURN_IF_ERROR(CheckVariables());
  const absl::Status written = WriteCheckpoint(options_.checkpoint, session_,
                                               position_, options_.settings);
  if (!written.ok()) {
    return AtPlace(absl::StrCat("checkpoint after step ", position_.step),
                   written);
  }
  kept_step_ = position_.step;
  return absl::OkStatus();
}

}  // namespace partita
