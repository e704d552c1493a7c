// A model that was made elsewhere, for inference, as one to train.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_IMPORTED_MODEL_H_
#define PARTITA_PARTITA_TRAIN_IMPORTED_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor_type.h"
#include "partita/train/trainable_model.h"

namespace partita {

struct SampleFile {
  std::string field;  // an input of the model, or kLabelField
  std::string path;   // IDX, .npy or .npz: [samples, ...]; or .csv
};

struct ImportedModelOptions {
  std::string loss = "cross-entropy";  // of LossNames()
  std::vector<SampleFile> train;       // every input, and the labels
  // The same; empty: no test is asked for. Where a table of it and that of the
  // training have a header, both name the same columns in the same order.
  std::vector<SampleFile> test;
  // Of a .csv file of labels that has other columns too, by name or number from
  // 1. Where it is an input's file as well, the others are the input. Classes
  // may be words, which TrainableModel::class_names then tells.
  std::string label_column;
  // Of inputs that are normalized: (x - mean) / stddev; bytes are divided by
  // 255 before. One for all, or one for each extent of a sample's first
  // dimension.
  std::vector<double> mean = {0};
  std::vector<double> stddev = {1};
  int batch_norm_parts = 1;  // of the batch: BatchNormTrainingOptions
};

// Whether mean and stddev apply to an input of this type.
bool IsNormalized(const TensorType& input);

// `module` as the importer makes it with weights_as_variables, of the function
// "train". What a sample of a file is must have as many elements as the model
// reads: it is given the model's shape. What is exported is the module itself,
// with its own output.
absl::StatusOr<TrainableModel> ImportedModel(
    Module module, const ImportedModelOptions& options);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_IMPORTED_MODEL_H_
