// The command line's request for a training, whatever the model.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_REQUEST_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "partita/train/checkpoint.h"
#include "partita/train/trainable_model.h"
#include "tools/partita/arguments.h"

namespace partita {

struct TrainRequest {
  std::string model;  // as named on the command line
  int64_t epochs = 10;
  bool drop_last = false;  // an epoch's incomplete last batch
  int workers = 1;         // that read the dataset
  TrainingRecipe recipe;
};

// For --precision, the default first.
std::vector<std::string> PrecisionNames();

// For --nan, the default first.
std::vector<std::string> NanChoices();

// The flag --seed.
absl::StatusOr<int64_t> ReadSeed(const Arguments& arguments);

// `usual` is the model's own, for missing flags. CalledWrongly for flags that
// are out of range or exclude each other.
absl::StatusOr<TrainRequest> ReadTrainRequest(const Arguments& arguments,
                                              const UpdateRule& usual);

// The length of the schedule without --decay-steps: an epoch for "step", all
// epochs for others.
void FillDecaySteps(const Arguments& arguments, int64_t steps_per_epoch,
                    TrainRequest& request);

// The options that decide the numbers, by the names of their flags: these, and
// those of the model.
std::vector<TrainingSetting> SettingsOf(const TrainRequest& request,
                                        const TrainableModel& model);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_REQUEST_H_
