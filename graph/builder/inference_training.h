// Trains a module that was made for inference, such as an imported one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_INFERENCE_TRAINING_H_
#define PARTITA_GRAPH_BUILDER_INFERENCE_TRAINING_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/builder/update_rule.h"
#include "graph/graph.h"
#include "graph/tensor_type.h"

namespace partita {

// For "cross-entropy" the output is scores [n, classes, d...] or their softmax;
// for "nll" it is log-probabilities. Labels are classes, i64[n, d...], or
// i64[n] if every d is 1, as after pooling over a whole image. For "mse" labels
// have the output's type. Labels of -100, and NaNs for "mse", are ignored
// (losses.h).
std::vector<std::string> LossNames();  // "cross-entropy", "nll", "mse"
bool HasClasses(absl::string_view loss);
// The type of a batch of labels for this output.
TensorType LabelsOf(const TensorType& output, absl::string_view loss);

// InvalidArgument unless the module has one function, "train", with a trainable
// variable and one output that fits the loss.
absl::Status CheckTrainable(const Module& module, const std::string& loss);

// True if the module has a batch norm with variable statistics.
bool HasRunningStatistics(const Module& module);

// Makes two functions of a module that passes CheckTrainable:
//   @train(inputs..., %labels) -> %loss: forward, backward and update;
//   @evaluate(inputs...) -> %log_probabilities, f32[n d..., classes], or
//   %predictions, f32 of the output's shape.
// In @train, batch norms with variable statistics use the statistics of the
// batch, or of each of its shards (BatchNormTrainingOptions), and move the
// variables by a tenth. Unimplemented, naming the node, for an op without a
// gradient between a trainable variable and the output.
absl::StatusOr<Module> TrainingOf(Module module, const std::string& loss,
                                  const UpdateRule& update,
                                  int batch_norm_shards = 1);

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_INFERENCE_TRAINING_H_
