// Reads numbers and choices.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/train_model_flags.h"

#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr char kSynchronised[] = "synchronised";
constexpr char kPerReplica[] = "per-replica";

// One for all, or one for each channel: "0.49,0.48,0.45".
absl::Status ReadNumbers(const Arguments& arguments, const char* flag,
                         std::vector<double>& numbers) {
  if (!arguments.has(flag)) return absl::OkStatus();
  numbers.clear();
  const std::string text = arguments.Get(flag, "");
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    double& number = numbers.emplace_back();
    if (absl::SimpleAtod(part, &number) &&
        std::isfinite(static_cast<float>(number))) {
      continue;
    }
    return CalledWrongly(absl::StrCat("--", flag, ": found ", text,
                                      "; expected an f32 number, or one for "
                                      "each channel, as in 0.49,0.48,0.45"));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> BatchNormKinds() {
  return {kSynchronised, kPerReplica};
}

absl::Status CheckGiven(const Arguments& arguments,
                        std::initializer_list<const char*> flags) {
  for (const char* flag : flags) {
    if (arguments.has(flag)) continue;
    return CalledWrongly(absl::StrCat("train: found no --", flag,
                                      "; expected --", flag,
                                      " FILE, an IDX or .npy file"));
  }
  return absl::OkStatus();
}

absl::Status ReadNormalization(const Arguments& arguments,
                               std::vector<double>& mean,
                               std::vector<double>& stddev) {
  PARTITA_RETURN_IF_ERROR(ReadNumbers(arguments, "mean", mean));
  PARTITA_RETURN_IF_ERROR(ReadNumbers(arguments, "stddev", stddev));
  const bool positive = absl::c_all_of(
      stddev, [](double number) { return static_cast<float>(number) > 0; });
  if (positive) return absl::OkStatus();
  return CalledWrongly(absl::StrCat("--stddev: found ",
                                    arguments.Get("stddev", ""),
                                    "; expected f32 numbers above 0"));
}

absl::StatusOr<int> ReadBatchNormParts(const Arguments& arguments) {
  const bool has_replicas = arguments.has("replicas");
  const std::string kind =
      arguments.Get("batch-norm", has_replicas ? kPerReplica : kSynchronised);
  if (kind == kSynchronised) return 1;
  if (!has_replicas) {
    return CalledWrongly(
        "--batch-norm: found per-replica without --replicas; expected both");
  }
  PARTITA_ASSIGN_OR_RETURN(const int64_t shards,
                           arguments.GetInt("replicas", 1, 1, kMaxModelSize));
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t micro_batches,
      arguments.GetInt("micro-batches", 1, 1, kMaxModelSize));
  if (shards > 1 && micro_batches > 1) {
    return CalledWrongly(
        absl::StrCat("--micro-batches: found ", micro_batches,
                     " with batch norms per replica, the default with "
                     "--replicas; expected --batch-norm synchronised, as the "
                     "examples of a replica are not contiguous in the batch"));
  }
  return static_cast<int>(shards);
}

absl::Status AddBatchNormSettings(int shards, absl::string_view change,
                                  TrainableModel& model) {
  if (model.batch % shards != 0) {
    return CalledWrongly(absl::StrCat(
        "--batch-norm per-replica: found a batch of ", model.batch,
        " and --replicas ", shards,
        "; expected a batch of equal shards, one for each; ", change, " ",
        (model.batch / shards + 1) * shards,
        ", or take other --replicas, or --batch-norm synchronised"));
  }
  model.batch_norm_shards = shards;
  // Synchronised ones do not depend on the number of replicas.
  model.settings.push_back(
      {.name = "batch-norm",
       .value = shards == 1 ? kSynchronised
                            : absl::StrCat(kPerReplica, " of ", shards),
       .fix = "give the --batch-norm, and the --replicas of per-replica, that "
              "the training was begun with"});
  return absl::OkStatus();
}

}  // namespace partita
