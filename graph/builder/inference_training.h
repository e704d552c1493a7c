// Training of a module that was made for inference, as an imported one.
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

// By "cross-entropy" the output is scores [n, classes, d...], or probabilities
// that a softmax makes of them; by "nll", log-probabilities. Labels are
// classes, i64[n, d...], and where every d is 1, as of pooling over a whole
// image, i64[n]; by "mse" they are like the output. Labels of -100, and
// NaNs of "mse", have no part in a loss (losses.h).
std::vector<std::string> LossNames();  // "cross-entropy", "nll", "mse"
bool HasClasses(absl::string_view loss);
// The type of a batch of labels for such an output.
TensorType LabelsOf(const TensorType& output, absl::string_view loss);

// InvalidArgument unless the module has one function, "train", with a trainable
// variable and one output that the loss can be of.
absl::Status CheckTrainable(const Module& module, const std::string& loss);

// The module has a batch norm whose statistics are variables.
bool HasRunningStatistics(const Module& module);

// For a module that passes CheckTrainable:
//   @train(inputs..., %labels) -> %loss: forward, backward and update;
//   @evaluate(inputs...) -> %log_probabilities, f32[n d..., classes], or
//   %predictions, f32 of the output's shape.
// In @train, batch norms whose statistics are variables go by the batch's own,
// or by those of each of its parts (BatchNormTrainingOptions), and move those
// by a tenth. Unimplemented, with the node, for an op without a gradient
// between a trainable variable and the output.
absl::StatusOr<Module> TrainingOf(Module module, const std::string& loss,
                                  const UpdateRule& update,
                                  int batch_norm_parts = 1);

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_INFERENCE_TRAINING_H_
