// ONNX models as models of `partita train`.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAINABLE_ONNX_H_
#define PARTITA_TOOLS_PARTITA_TRAINABLE_ONNX_H_

#include "absl/status/statusor.h"
#include "partita/options/arguments.h"
#include "partita/train/trainable_model.h"

namespace partita {

// The operand, with the files of --input and --labels, and of the test.
absl::StatusOr<TrainableModel> ReadTrainableOnnx(const Arguments& arguments);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAINABLE_ONNX_H_
