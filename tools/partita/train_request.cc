// Reads the flags of a training.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/train_request.h"

#include <initializer_list>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/builder/chosen_optimizer.h"
#include "graph/status_macros.h"
#include "graph/text/number_text.h"

namespace partita {
namespace {

constexpr char kMnist[] = "builtin:mnist";
constexpr int64_t kMaxBatch = 1 << 16;
constexpr int64_t kMaxEpochs = 1'000'000;

absl::Status CheckModel(const std::string& model) {
  if (model == kMnist) return absl::OkStatus();
  return CalledWrongly(absl::StrCat(
      model, ": found no model that can be trained; expected ", kMnist));
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

// Less than `bound`.
absl::StatusOr<double> GetBelow(const Arguments& arguments,
                                absl::string_view flag, double otherwise,
                                double bound) {
  PARTITA_ASSIGN_OR_RETURN(const double value,
                           arguments.GetDouble(flag, otherwise));
  if (value < bound) return value;
  return CalledWrongly(absl::StrCat("--", flag, ": found ",
                                    arguments.Get(flag, ""),
                                    "; expected a number below ", bound));
}

absl::Status ReadOptimizer(const Arguments& arguments,
                           MnistTrainingOptions& network) {
  network.optimizer = arguments.Get("optimizer", network.optimizer);
  if (arguments.has("momentum") && !TakesMomentum(network.optimizer)) {
    return CalledWrongly(
        absl::StrCat("--momentum: found it with optimizer ", network.optimizer,
                     ", which has none; expected --optimizer sgd or rmsprop"));
  }
  PARTITA_ASSIGN_OR_RETURN(
      network.learning_rate,
      arguments.GetDouble("learning-rate", network.learning_rate));
  PARTITA_ASSIGN_OR_RETURN(
      network.momentum, GetBelow(arguments, "momentum", network.momentum, 1));
  PARTITA_ASSIGN_OR_RETURN(
      network.weight_decay,
      arguments.GetDouble("weight-decay", network.weight_decay));
  return absl::OkStatus();
}

absl::Status ReadNetwork(const Arguments& arguments,
                         MnistTrainingOptions& network) {
  PARTITA_ASSIGN_OR_RETURN(
      network.batch, arguments.GetInt("batch", network.batch, 1, kMaxBatch));
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t seed,
      arguments.GetInt("seed", 1, 0, std::numeric_limits<int64_t>::max()));
  network.seed = static_cast<uint64_t>(seed);
  PARTITA_RETURN_IF_ERROR(ReadOptimizer(arguments, network));
  PARTITA_ASSIGN_OR_RETURN(network.dropout,
                           GetBelow(arguments, "dropout", network.dropout, 1));
  return absl::OkStatus();
}

absl::Status ReadImages(const Arguments& arguments, TrainRequest& request) {
  PARTITA_ASSIGN_OR_RETURN(request.mean,
                           arguments.GetDouble("mean", request.mean));
  PARTITA_ASSIGN_OR_RETURN(request.stddev,
                           arguments.GetDouble("stddev", request.stddev));
  if (static_cast<float>(request.stddev) == 0) {
    return CalledWrongly("--stddev: found 0; expected a number above 0");
  }
  request.train = {.images = arguments.Get("images", ""),
                   .labels = arguments.Get("labels", ""),
                   .dims = {1, 28, 28},
                   .classes = 10,
                   .mean = static_cast<float>(request.mean),
                   .stddev = static_cast<float>(request.stddev)};
  request.test = request.train;
  request.test.images = arguments.Get("test-images", "");
  request.test.labels = arguments.Get("test-labels", "");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainRequest> ReadTrainRequest(const Arguments& arguments) {
  TrainRequest request = {.model = arguments.positional()[0]};
  PARTITA_RETURN_IF_ERROR(CheckModel(request.model));
  PARTITA_RETURN_IF_ERROR(CheckGiven(arguments, {"images", "labels"}));
  if (arguments.has("test-images") || arguments.has("test-labels")) {
    PARTITA_RETURN_IF_ERROR(
        CheckGiven(arguments, {"test-images", "test-labels"}));
  }
  PARTITA_RETURN_IF_ERROR(ReadNetwork(arguments, request.network));
  PARTITA_ASSIGN_OR_RETURN(request.epochs,
                           arguments.GetInt("epochs", 10, 1, kMaxEpochs));
  PARTITA_RETURN_IF_ERROR(ReadImages(arguments, request));
  return request;
}

std::vector<TrainingSetting> SettingsOf(const TrainRequest& request) {
  const MnistTrainingOptions& network = request.network;
  return {{"model", request.model},
          {"batch", absl::StrCat(network.batch)},
          {"seed", absl::StrCat(network.seed)},
          {"optimizer", network.optimizer},
          {"learning-rate", DoubleText(network.learning_rate)},
          {"momentum", DoubleText(network.momentum)},
          {"weight-decay", DoubleText(network.weight_decay)},
          {"dropout", DoubleText(network.dropout)},
          {"mean", DoubleText(request.mean)},
          {"stddev", DoubleText(request.stddev)}};
}

}  // namespace partita
