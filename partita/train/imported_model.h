// Trains a model that was made elsewhere for inference.
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
  // Likewise; empty: no test. If a table of the test and that of the training
  // have a header, both must have the same columns in the same order.
  std::vector<SampleFile> test;
  // For a .csv file of labels with other columns: the label's column, by name
  // or number from 1. If the file is also an input's, the other columns are the
  // input. Classes may be words; see TrainableModel::class_names.
  std::string label_column;
  // For normalized inputs: (x - mean) / stddev, after bytes are divided by 255.
  // One for all, or one for each extent of a sample's first dimension.
  std::vector<double> mean = {0};
  std::vector<double> stddev = {1};
  int batch_norm_shards = 1;  // of the batch: BatchNormTrainingOptions
};

// True if mean and stddev apply to an input of this type.
bool IsNormalized(const TensorType& input);

// `module`: the function "train", imported with weights_as_variables. A sample
// in a file must have as many elements as the model reads; it gets the model's
// shape. The module itself, with its own output, is exported.
absl::StatusOr<TrainableModel> ImportedModel(
    Module module, const ImportedModelOptions& options);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_IMPORTED_MODEL_H_
