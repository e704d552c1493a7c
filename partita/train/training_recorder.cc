// Follows a training, step by step.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/training_recorder.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "partita/train/evaluation.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

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

TrainingRecorder::TrainingRecorder(const RecorderOptions& options,
                                   const TrainingEvents& events,
                                   TrainingRecord& record)
    : options_(options),
      events_(events),
      record_(record),
      step_began_(Clock::now()) {}

double TrainingRecorder::SecondsOfStep() {
  const Clock::time_point now = Clock::now();
  return std::chrono::duration<double>(now - std::exchange(step_began_, now))
      .count();
}

absl::Status TrainingRecorder::OnStep(const TrainingStep& step) {
  const double seconds = SecondsOfStep();
  has_evaluated_ = false;
  Add(step, seconds, epoch_);
  Add(step, seconds, record_.trained);
  record_.step = step.step + 1;
  if (events_.on_step) events_.on_step(step.loss);
  return AddRow(step);
}

absl::Status TrainingRecorder::AddRow(const TrainingStep& step) {
  if (options_.table == nullptr) return absl::OkStatus();
  const absl::Status added = options_.table->Add(
      step.step + 1, step.epoch + 1, step.loss, record_.trained.seconds);
  if (added.ok()) return absl::OkStatus();
  return AtPlace(absl::StrCat("row of step ", step.step + 1), added);
}

absl::Status TrainingRecorder::OnEpoch(int64_t epoch) {
  EpochRecord finished = {.epoch = epoch,
                          .trained = std::exchange(epoch_, TrainedSpan()),
                          .test = {}};
  PARTITA_RETURN_IF_ERROR(KeepTrace());  // there may be no other step
  PARTITA_ASSIGN_OR_RETURN(finished.test, Test());
  record_.finished.push_back(finished);
  if (events_.on_epoch) PARTITA_RETURN_IF_ERROR(events_.on_epoch(finished));
  SecondsOfStep();  // excludes evaluation
  return absl::OkStatus();
}

bool TrainingRecorder::WantsStop() {
  return events_.wants_stop && events_.wants_stop();
}

absl::Status TrainingRecorder::End() {
  if (record_.interrupted) return KeepTrace();
  if (!record_.finished.empty()) {
    record_.test = record_.finished.back().test;
    return absl::OkStatus();
  }
  PARTITA_ASSIGN_OR_RETURN(record_.test, Test());
  return absl::OkStatus();
}

absl::Status TrainingRecorder::KeepTrace() {
  if (!options_.traces || has_evaluated_) return absl::OkStatus();
  PARTITA_ASSIGN_OR_RETURN(record_.trace, options_.session->LastTraceJson());
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Evaluation>> TrainingRecorder::Test() {
  if (options_.test == nullptr) return std::nullopt;
  if (events_.on_evaluation) events_.on_evaluation();
  has_evaluated_ = true;
  absl::StatusOr<Evaluation> test = Evaluate(
      *options_.session, options_.test, options_.batch_size,
      [this] { return WantsStop(); }, options_.workers);
  if (absl::IsCancelled(test.status())) {
    record_.interrupted = true;
    return std::nullopt;
  }
  PARTITA_RETURN_IF_ERROR(test.status());
  return *std::move(test);
}

}  // namespace partita
