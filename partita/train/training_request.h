// What a training does, whatever its model.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TRAINING_REQUEST_H_
#define PARTITA_PARTITA_TRAIN_TRAINING_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "partita/train/checkpoint.h"
#include "partita/train/trainable_model.h"

namespace partita {

struct TrainingRequest {
  // The model's name. A checkpoint depends on it if it begins with "builtin:";
  // it does not depend on the name of a file.
  std::string model;
  int64_t epochs = 10;
  bool drop_last = false;  // an epoch's incomplete last batch
  int workers = 1;  // threads that read the dataset; no effect on the numbers
  // A schedule of 0 steps has its usual length: an epoch for "step", all epochs
  // for others.
  TrainingRecipe recipe;
  // Where the trained model will be written as ONNX; empty: nowhere.
  std::string export_path;
  int64_t export_batch = 0;  // of the written model; 0: that of the training
  // The remedy if a checkpoint is of other samples; empty: the usual one.
  std::string same_samples;
};

// The options that decide the numbers, by the names of their flags: these, and
// those of the model.
std::vector<TrainingSetting> SettingsOf(const TrainingRequest& request,
                                        const TrainableModel& model);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TRAINING_REQUEST_H_
