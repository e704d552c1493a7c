// Joins a session, a trainer and a recorder.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/training_run.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/builder/loss_scaling.h"
#include "graph/fingerprint.h"
#include "graph/host_capacity.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

// Placements and kernels: another plan has the same numbers except for
// rounding.
std::vector<TrainingSetting> PlanSettings(const Plan& plan,
                                          DeviceMode devices) {
  constexpr auto kRounds = TrainingSetting::Kind::kRounds;
  std::vector<TrainingSetting> settings = {
      {"plan", FingerprintOf(plan.module).ToString(), kRounds}};
  // An emulated device computes with this host's kernels, whatever the plan
  // says.
  if (devices == DeviceMode::kVirtual) {
    settings.push_back(
        {"instruction sets", absl::StrJoin(ThisHost().isas, " "), kRounds});
  }
  return settings;
}

// Nullopt if the loss is not scaled.
absl::StatusOr<std::optional<LossScaleRecord>> LossScaleOf(const Module& module,
                                                           Session& session) {
  if (module.FindVariable(kLossScale) == nullptr) return std::nullopt;
  PARTITA_ASSIGN_OR_RETURN(const HostTensor scale,
                           session.ReadVariable(kLossScale));
  PARTITA_ASSIGN_OR_RETURN(const HostTensor skipped,
                           session.ReadVariable(kSkippedSteps));
  return LossScaleRecord{GetAsDouble(scale, 0),
                         static_cast<int64_t>(GetAsDouble(skipped, 0))};
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrainingRun>> TrainingRun::Start(
    const TrainingSetup& setup, std::shared_ptr<const Plan> plan,
    const TrainingRunOptions& options) {
  std::unique_ptr<TrainingRun> run(new TrainingRun(setup, options));
  PARTITA_ASSIGN_OR_RETURN(run->session_,
                           Session::Create(std::move(plan), options.load));
  PARTITA_RETURN_IF_ERROR(run->CreateTrainer());
  return run;
}

absl::Status TrainingRun::CreateTrainer() {
  const TrainingRequest& request = setup_.request;
  std::vector<TrainingSetting> settings = setup_.settings;
  for (TrainingSetting& setting :
       PlanSettings(session_->plan(), options_.load.devices)) {
    settings.push_back(std::move(setting));
  }
  PARTITA_ASSIGN_OR_RETURN(
      trainer_, Trainer::Create(*session_, setup_.model.train.samples,
                                {.batch_size = setup_.model.batch,
                                 .epochs = request.epochs,
                                 .seed = request.recipe.seed,
                                 .drop_last = request.drop_last,
                                 .workers = request.workers,
                                 .stop_at_nan = options_.stop_at_nan,
                                 .checkpoint = options_.checkpoint,
                                 .every = options_.every,
                                 .run = {.trace = options_.trace},
                                 .settings = std::move(settings)}));
  if (options_.resume.empty()) return absl::OkStatus();
  return trainer_->Resume(options_.resume, options_.resume_on);
}

TrainingRecord TrainingRun::NewRecord() const {
  const int64_t step = trainer_->position().step;
  return {.epochs = setup_.request.epochs,
          .steps_per_epoch = setup_.steps_per_epoch,
          .first_step = step,
          .by_another_plan = trainer_->resumed_by_another_plan(),
          .step = step};
}

absl::StatusOr<LossTable> TrainingRun::OpenTable() const {
  const int64_t step = trainer_->position().step;
  absl::StatusOr<LossTable> table =
      options_.resume.empty() ? LossTable::Create(options_.loss_table)
                              : LossTable::Continue(options_.loss_table, step);
  if (table.ok() || absl::IsInvalidArgument(table.status())) return table;
  return AtPlace(absl::StrCat("before step ", step + 1), table.status());
}

absl::Status TrainingRun::Run(TrainingRecord& record,
                              const TrainingEvents& events) {
  std::optional<LossTable> table;
  if (!options_.loss_table.empty()) {
    PARTITA_ASSIGN_OR_RETURN(table, OpenTable());
  }
  TrainingRecorder recorder({.session = session_.get(),
                             .test = setup_.model.test.samples,
                             .batch_size = setup_.model.batch,
                             .workers = setup_.request.workers,
                             .table = table.has_value() ? &*table : nullptr,
                             .traces = options_.trace},
                            events, record);
  PARTITA_ASSIGN_OR_RETURN(const TrainingEnd end, trainer_->Run(recorder));
  record.interrupted |= end == TrainingEnd::kStopped;
  record.seconds_waited = trainer_->seconds_waited();
  PARTITA_RETURN_IF_ERROR(recorder.End());
  PARTITA_ASSIGN_OR_RETURN(record.loss_scale,
                           LossScaleOf(setup_.module, *session_));
  return absl::OkStatus();
}

}  // namespace partita
