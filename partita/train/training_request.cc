// Writes a request as settings.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/training_request.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/dtype.h"
#include "graph/text/number_text.h"

namespace partita {
namespace {

std::vector<TrainingSetting> RecipeSettings(const TrainingRecipe& recipe) {
  const auto& [optimizer, schedule, clip_norm, label_smoothing, precision] =
      recipe.update;
  std::vector<TrainingSetting> settings = {
      {"seed", absl::StrCat(recipe.seed)},
      {"optimizer", optimizer.name},
      {"learning-rate", DoubleText(schedule.learning_rate)},
      {"momentum", DoubleText(optimizer.momentum)},
      {"weight-decay", DoubleText(optimizer.weight_decay)},
      {"schedule", schedule.name},
      {"warm-up", absl::StrCat(schedule.warm_up)},
      {"clip-norm", DoubleText(clip_norm)},
      {"label-smoothing", DoubleText(label_smoothing)},
      {"precision", std::string(DTypeName(precision))}};
  if (optimizer.name == "sgd") {
    settings.push_back({"nesterov", optimizer.nesterov ? "yes" : "no"});
  }
  if (TakesDecayFactor(schedule.name)) {
    settings.push_back({"decay-factor", DoubleText(schedule.factor)});
  }
  if (TakesDecaySteps(schedule.name)) {
    settings.push_back({"decay-steps", absl::StrCat(schedule.steps)});
  }
  return settings;
}

}  // namespace

std::vector<TrainingSetting> SettingsOf(const TrainingRequest& request,
                                        const TrainableModel& model) {
  std::vector<TrainingSetting> settings;
  // A file is identified by the graph's fingerprint, whatever its name.
  if (absl::StartsWith(request.model, "builtin:")) {
    settings.push_back({"model", request.model});
  }
  settings.push_back({"batch", absl::StrCat(model.batch)});
  settings.push_back({"drop-last", request.drop_last ? "yes" : "no"});
  for (const std::vector<TrainingSetting>& more :
       {RecipeSettings(request.recipe), model.settings}) {
    settings.insert(settings.end(), more.begin(), more.end());
  }
  return settings;
}

}  // namespace partita
