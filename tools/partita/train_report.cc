// Writes the report of a training.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/train_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tools/partita/json_text.h"
#include "tools/partita/memory_report.h"
#include "tools/partita/replaced_kernels.h"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

// Larger losses have too many digits to read.
constexpr double kLongLoss = 1e6;

std::string LossText(double loss) {
  const bool is_long = std::isfinite(loss) && std::fabs(loss) >= kLongLoss;
  return is_long ? absl::StrFormat("%.4e", loss)
                 : absl::StrFormat("%.4f", WithoutSignOfNan(loss));
}

// "loss 0.4123", and the number of steps without a finite loss, if others have
// one.
std::string MeanLossText(const TrainedSpan& trained) {
  const std::string loss = "loss " + LossText(trained.loss());
  if (trained.num_nan == 0 || trained.num_nan == trained.steps) return loss;
  return absl::StrCat(loss, " (", trained.num_nan, " of ",
                      CountText(trained.steps, "step"), " had no finite one)");
}

std::string TestText(const std::optional<Evaluation>& test) {
  if (!test.has_value()) return "";
  if (test->labels == 0) return ", test without a label that is known";
  const std::string loss = ", test loss " + LossText(test->loss);
  if (!test->correct.has_value()) return loss;
  return loss +
         absl::StrFormat(", test accuracy %.2f %%", 100 * test->accuracy());
}

// "1642 images/s"
std::string RateText(const TrainedSpan& trained, const TrainReport& report) {
  return absl::StrFormat("%.0f %ss/s", trained.samples_per_second(),
                         report.sample_noun);
}

// "1:02:03" or "2:03".
std::string ClockText(double seconds) {
  const int64_t whole = static_cast<int64_t>(std::ceil(seconds));
  const int64_t minutes = whole / 60;
  if (minutes < 60) return absl::StrFormat("%d:%02d", minutes, whole % 60);
  return absl::StrFormat("%d:%02d:%02d", minutes / 60, minutes % 60,
                         whole % 60);
}

// "[=====               ]" for a quarter.
std::string BarText(int64_t done, int64_t all) {
  constexpr int64_t kWidth = 20;
  const int64_t filled = done * kWidth / all;
  return absl::StrCat("[", std::string(filled, '='),
                      std::string(kWidth - filled, ' '), "]");
}

// The first batch always waits, and short waits do not matter.
std::string WaitText(const TrainingRecord& record) {
  const double least = std::max(0.1, 0.01 * record.trained.seconds);
  if (record.seconds_waited <= least) return "";
  return absl::StrCat(", waited ", SecondsText(record.seconds_waited),
                      " for the dataset");
}

Json TestJson(const std::optional<Evaluation>& test) {
  if (!test.has_value()) return nullptr;
  Json json = {{"loss", test->loss},
               {"samples", test->samples},
               {"labels", test->labels}};
  if (test->correct.has_value()) {
    json["correct"] = *test->correct;
    json["accuracy"] = test->accuracy();
  }
  return json;
}

void AddTrained(const TrainedSpan& trained, Json& json) {
  json["steps"] = trained.steps;
  json["nan_losses"] = trained.num_nan;
  if (trained.steps == 0) return;
  json["loss"] = trained.loss();
  json["seconds"] = trained.seconds;
  json["samples_per_second"] = trained.samples_per_second();
}

// "labels: setosa 0, versicolor 1", for the first few.
std::string ClassesText(const std::vector<std::string>& names) {
  constexpr size_t kMost = 20;
  if (names.empty()) return "";
  std::string text = "labels: ";
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", names[i], " ", i);
  }
  return absl::StrCat(text, names.size() > kMost ? ", ..." : "", "\n");
}

// "mnist by single on cpu:0: 60000 images, 938 steps an epoch, 2 epochs".
std::string HeadLine(const TrainReport& report) {
  return absl::StrCat(
      report.model, " by ", report.strategy, ChosenStepText(report.chosen_step),
      UsedDevicesText(report.devices),
      PinsText(report.strategy, report.has_pins), ": ",
      CountText(report.samples, report.sample_noun), ", ",
      CountText(report.record.steps_per_epoch, "step"), " an epoch, ",
      CountText(report.record.epochs, "epoch"), "\n");
}

std::string ResumedText(const TrainingRecord& record) {
  if (record.first_step == 0) return "";
  return absl::StrCat(
      "resumed after step ", record.first_step, " of ", record.num_steps(),
      record.by_another_plan ? " by another plan: from here on the numbers are "
                               "those of its own except for rounding"
                             : "",
      "\n");
}

// A share of a step: faster slow nodes are not worth a line.
constexpr double kNoticeable = 0.01;

std::string SlowNodesText(const TrainReport& report) {
  if (report.fallbacks.seconds <= kNoticeable * report.step_seconds) return "";
  return FallbacksText(report.fallbacks);
}

std::string NanText(int64_t count) {
  if (count == 0) return "";
  if (count == 1) return ", 1 loss that was not finite";
  return absl::StrCat(", ", count, " losses that were not finite");
}

std::string LossScaleText(const std::optional<LossScaleRecord>& scale) {
  if (!scale.has_value()) return "";
  return absl::StrCat(", ", CountText(scale->skipped_steps, "step"),
                      " without an update, as gradients were not finite, loss "
                      "scale ",
                      scale->scale);
}

// "trained 8 of 8 steps, 8 now in 4.00 s, 32 images/s"
std::string StepsText(const TrainReport& report) {
  const TrainingRecord& record = report.record;
  std::string text =
      absl::StrCat(record.interrupted ? "interrupted after step " : "trained ",
                   record.step, " of ", record.num_steps(), " steps");
  if (record.trained.steps > 0) {
    absl::StrAppend(&text, ", ", record.trained.steps, " now in ",
                    SecondsText(record.trained.seconds), ", ",
                    RateText(record.trained, report));
  }
  return text;
}

// ", checkpoint FILE" if it was written.
std::string WrittenText(absl::string_view what, const std::string& path) {
  return path.empty() ? "" : absl::StrCat(", ", what, " ", path);
}

Json EpochsJson(const std::vector<EpochRecord>& epochs) {
  Json array = Json::array();
  for (const EpochRecord& epoch : epochs) {
    Json& json = array.emplace_back(Json{{"epoch", epoch.epoch + 1}});
    AddTrained(epoch.trained, json);
    json["test"] = TestJson(epoch.test);
  }
  return array;
}

Json HeadJson(const TrainReport& report) {
  const TrainingRecord& record = report.record;
  return {{"model", report.model},
          {"strategy", report.strategy},
          {"devices", report.devices},
          {"samples", report.samples},
          {"classes", report.class_names},
          {"steps_per_epoch", record.steps_per_epoch},
          {"first_step", record.first_step},
          {"last_step", record.step},
          {"interrupted", record.interrupted},
          {"by_another_plan", record.by_another_plan},
          {"checkpoint", report.checkpoint},
          {"exported", report.exported},
          {"epochs", EpochsJson(record.finished)}};
}

void AddPlan(const TrainReport& report, Json& json) {
  if (!report.chosen_step.empty()) json["chosen_step"] = report.chosen_step;
  json["fallbacks"] = report.fallbacks.nodes;
  json["fallback_kernels"] = report.fallbacks.kernels;
  json["fallback_seconds"] = report.fallbacks.seconds;
  json["no_codegen"] = report.fallbacks.no_codegen;
  json["notice"] = report.notice;
  json["replaced_kernels"] = ReplacedKernelsJson(report.replaced_kernels);
  json["batch_norm_shards"] = report.batch_norm_shards;
  json["repeated_share"] = report.repeated_share;
  if (!report.sharded_updates.has_value()) return;
  json["sharded_updates"] = report.sharded_updates->sharded;
  json["updated_weights"] = report.sharded_updates->all;
}

}  // namespace

std::string BatchNormsText(int parts) {
  if (parts == 1) return "";
  return "batch norms use the statistics of each replica's shard of the batch; "
         "with --batch-norm synchronised, those of the whole batch\n";
}

std::string TrainBeginText(const TrainReport& report) {
  const std::string notice =
      report.notice.empty() ? "" : absl::StrCat("note: ", report.notice, "\n");
  return absl::StrCat(
      HeadLine(report), ClassesText(report.class_names),
      BatchNormsText(report.batch_norm_shards), ResumedText(report.record),
      SlowNodesText(report), RepeatedText("train", report.repeated_share),
      ShardedUpdatesText("train", report.sharded_updates), notice,
      ReplacedKernelsText("train", report.replaced_kernels));
}

std::string EpochText(const EpochRecord& epoch, const TrainReport& report) {
  return absl::StrCat("epoch ", epoch.epoch + 1, " of ", report.record.epochs,
                      ": ", MeanLossText(epoch.trained), TestText(epoch.test),
                      ", ", RateText(epoch.trained, report), "\n");
}

std::string TrainEndText(const TrainReport& report) {
  const TrainingRecord& record = report.record;
  const std::string generated =
      report.generated.empty() ? ""
                               : absl::StrCat("\n", report.generated, "\n");
  return absl::StrCat(
      MemoryText(report.memory), StepsText(report), WaitText(record),
      TestText(record.test), NanText(record.trained.num_nan),
      LossScaleText(record.loss_scale),
      report.untraced ? ", no trace, as no step was left to do" : "",
      WrittenText("checkpoint", report.checkpoint),
      WrittenText("model", report.exported), "\n", generated);
}

std::string TrainProgressText(const TrainReport& report, double loss) {
  const TrainingRecord& record = report.record;
  const TrainedSpan& trained = record.trained;
  const double left = static_cast<double>(record.num_steps() - record.step) *
                      trained.seconds / static_cast<double>(trained.steps);
  return absl::StrCat(BarText(record.step, record.num_steps()), " epoch ",
                      (record.step - 1) / record.steps_per_epoch + 1, " of ",
                      record.epochs, ", step ", record.step, " of ",
                      record.num_steps(), ", loss ", LossText(loss), ", ",
                      RateText(trained, report), ", ", ClockText(left),
                      " left");
}

std::string TrainJson(const TrainReport& report) {
  const TrainingRecord& record = report.record;
  Json json = HeadJson(report);
  AddTrained(record.trained, json);
  json["seconds_waited_for_dataset"] = record.seconds_waited;
  AddPlan(report, json);
  if (record.loss_scale.has_value()) {
    json["loss_scale"] = record.loss_scale->scale;
    json["skipped_steps"] = record.loss_scale->skipped_steps;
  }
  json["memory"] = MemoryJson(report.memory);
  json["test"] = TestJson(record.test);
  if (!report.generated.empty()) json["generated"] = report.generated;
  return JsonText(json);
}

}  // namespace partita
