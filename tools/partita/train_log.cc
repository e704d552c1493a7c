// Follows a training.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/train_log.h"

#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

// Faster than anybody reads.
constexpr std::chrono::milliseconds kBetweenLines(100);

void Add(const TrainingStep& step, double seconds, TrainedSpan& span) {
  ++span.steps;
  span.samples += step.samples;
  span.seconds += seconds;
  if (!std::isfinite(step.loss)) {
    ++span.num_nan;
    return;
  }
  span.labels += step.labels;
  span.loss_sum += step.loss * static_cast<double>(step.labels);
}

}  // namespace

TrainLog::TrainLog(const TrainLogOptions& options, Progress& progress,
                   TrainReport& report)
    : options_(options),
      progress_(progress),
      report_(report),
      step_began_(Clock::now()) {}

double TrainLog::SecondsOfStep() {
  const Clock::time_point now = Clock::now();
  return std::chrono::duration<double>(now - std::exchange(step_began_, now))
      .count();
}

absl::Status TrainLog::OnStep(const TrainingStep& step) {
  const double seconds = SecondsOfStep();
  has_evaluated_ = false;
  Add(step, seconds, epoch_);
  Add(step, seconds, report_.trained);
  report_.step = step.step + 1;
  ShowProgress(step.loss);
  if (options_.table == nullptr) return absl::OkStatus();
  const absl::Status added = options_.table->Add(
      step.step + 1, step.epoch + 1, step.loss, report_.trained.seconds);
  if (added.ok()) return absl::OkStatus();
  return AtPlace(absl::StrCat("row of step ", step.step + 1), added);
}

void TrainLog::ShowProgress(double loss) {
  if (step_began_ - shown_ < kBetweenLines) return;
  shown_ = step_began_;
  progress_.Stage(TrainProgressText(report_, loss));
}

absl::Status TrainLog::OnEpoch(int64_t epoch) {
  EpochReport finished = {.epoch = epoch,
                          .trained = std::exchange(epoch_, TrainedSpan()),
                          .test = {}};
  PARTITA_RETURN_IF_ERROR(KeepTrace());  // there may be no other step
  PARTITA_ASSIGN_OR_RETURN(finished.test, Test());
  report_.finished.push_back(finished);
  if (options_.tells_epochs) {
    progress_.Done();
    PARTITA_RETURN_IF_ERROR(WriteText("-", EpochText(finished, report_)));
  }
  SecondsOfStep();  // excludes evaluation
  return absl::OkStatus();
}

bool TrainLog::WantsStop() {
  return options_.interruption != nullptr && options_.interruption->came();
}

absl::Status TrainLog::End() {
  if (report_.interrupted) return KeepTrace();
  if (!report_.finished.empty()) {
    report_.test = report_.finished.back().test;
    return absl::OkStatus();
  }
  PARTITA_ASSIGN_OR_RETURN(report_.test, Test());
  return absl::OkStatus();
}

absl::Status TrainLog::KeepTrace() {
  if (!options_.traces || has_evaluated_) return absl::OkStatus();
  PARTITA_ASSIGN_OR_RETURN(report_.trace, options_.session->LastTraceJson());
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Evaluation>> TrainLog::Test() {
  if (options_.test == nullptr) return std::nullopt;
  progress_.Stage("evaluate");
  has_evaluated_ = true;
  absl::StatusOr<Evaluation> test = Evaluate(
      *options_.session, options_.test, options_.batch_size,
      [this] { return WantsStop(); }, options_.workers);
  if (absl::IsCancelled(test.status())) return std::nullopt;
  PARTITA_RETURN_IF_ERROR(test.status());
  return *std::move(test);
}

}  // namespace partita
