// A model to train, as the training loop, checkpoints and the program see it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TRAINABLE_MODEL_H_
#define PARTITA_PARTITA_TRAIN_TRAINABLE_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/builder/update_rule.h"
#include "graph/graph.h"
#include "partita/session.h"
#include "partita/train/checkpoint.h"
#include "runtime/dataset/dataset.h"

namespace partita {

// Samples whose fields are inputs of the model by name; `labels` is each
// sample's label (batch_inputs.h).
struct TrainingData {
  SharedDataset samples;  // null: not requested
  std::string source;     // for messages about a faulty sample
};

// Choices of a training that are not part of the model.
struct TrainingRecipe {
  uint64_t seed = 1;
  UpdateRule update;
};

struct TrainableModel {
  std::string sample_noun;  // a sample's name in reports: "image"
  TrainingData train;
  TrainingData test;
  // Shards of the batch whose batch norms have statistics of their own, as on
  // that many replicas; 1: statistics of the whole batch.
  int batch_norm_shards = 1;
  // Names of labels, by number; empty: labels are numbers.
  std::vector<std::string> class_names;
  int64_t batch = 1;  // samples of a step: dimension 0 of every input
  // All of its own options that decide the numbers, by the names of their
  // flags.
  std::vector<TrainingSetting> settings;
  // Builds @train(fields...) -> %loss, a whole step (trainer.h), and
  // @evaluate(fields...), whose one output decides the metric (evaluation.h).
  std::function<absl::StatusOr<Module>(const TrainingRecipe& recipe)> build;
  // What is exported in place of @evaluate: its one function, over variables of
  // `build`. Null: @evaluate.
  std::shared_ptr<const Module> inference;
  // Builds the export with another batch: a module with the exported function,
  // over variables of `build`. Null: there is no other batch.
  std::function<absl::StatusOr<Module>(int64_t batch)> rebatched;
  // Returns text that the trained model writes. Leaves the session at any
  // entry. Null: the model writes nothing.
  std::function<absl::StatusOr<std::string>(Session& session)> generate;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TRAINABLE_MODEL_H_
