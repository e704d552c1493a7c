// A model to train: all that the training loop, checkpoints and the program
// know of it, whatever it computes.
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

// Samples whose fields are inputs of the model by name; `labels` is what each
// sample is (batch_inputs.h).
struct TrainingData {
  SharedDataset samples;  // null: none are asked for
  std::string source;     // where a sample that is at fault comes from
};

// What is chosen about a training and is no part of the model.
struct TrainingRecipe {
  uint64_t seed = 1;
  UpdateRule update;
};

struct TrainableModel {
  std::string sample_noun;  // what reports call one: "image"
  TrainingData train;
  TrainingData test;
  // Of the batch, whose batch norms have statistics of their own, as of as many
  // replicas; 1: those of the whole batch.
  int batch_norm_parts = 1;
  // What labels are called, by their numbers; empty: they are numbers.
  std::vector<std::string> class_names;
  int64_t batch = 1;  // samples of a step, as dimension 0 of every input
  // All options of its own that decide the numbers, by the names of their
  // flags.
  std::vector<TrainingSetting> settings;
  // Makes @train(fields...) -> %loss, a whole step (trainer.h), and
  // @evaluate(fields...), whose one output says what evaluation measures
  // (evaluation.h).
  std::function<absl::StatusOr<Module>(const TrainingRecipe& recipe)> build;
  // What a trained model is exported as, in place of @evaluate: its one
  // function, over variables that `build` makes. Null: @evaluate.
  std::shared_ptr<const Module> inference;
  // Makes what is exported with another batch: a module that has the exported
  // function, over variables that `build` makes.
  std::function<absl::StatusOr<Module>(int64_t batch)> rebatched;
  // Gives what the trained model writes, for people to read. Leaves the session
  // at any entry. Null: it writes nothing.
  std::function<absl::StatusOr<std::string>(Session& session)> generate;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TRAINABLE_MODEL_H_
