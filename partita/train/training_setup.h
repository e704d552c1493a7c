// A training before it is compiled: its data, its step, and what its
// checkpoints depend on.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TRAINING_SETUP_H_
#define PARTITA_PARTITA_TRAIN_TRAINING_SETUP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "partita/train/checkpoint.h"
#include "partita/train/exported_evaluation.h"
#include "partita/train/trainable_model.h"
#include "partita/train/training_request.h"

namespace partita {

struct TrainingSetup {
  TrainingRequest request;  // with the length of its schedule
  TrainableModel model;
  int64_t steps_per_epoch = 0;
  Module module;  // of TrainableModel::build; Compile takes a clone
  // The module with TrainingRequest::export_batch; null: that of the training.
  std::unique_ptr<const Module> rebatched;
  // All that decides the numbers, except for the plan.
  std::vector<TrainingSetting> settings;

  // What ExportEvaluation writes of the trained model. Valid as long as this.
  ExportedFunction exported() const;
};

// Called before each stage with its name, for progress; may be empty.
using StageProgress = std::function<void(absl::string_view stage)>;

// Reads every sample once, so that a faulty one is found before the first step,
// and builds the step. Returns the error of a dataset with its source;
// InvalidArgument if a dataset is missing or has no samples, a number is out of
// range, or an epoch would have no steps;
// errors of CheckExport if an export is requested.
absl::StatusOr<TrainingSetup> SetUpTraining(TrainingRequest request,
                                            TrainableModel model,
                                            const StageProgress& progress = {});

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TRAINING_SETUP_H_
