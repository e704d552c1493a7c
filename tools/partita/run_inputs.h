// The inputs of a run, from the command line.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_RUN_INPUTS_H_
#define PARTITA_TOOLS_PARTITA_RUN_INPUTS_H_

#include "absl/status/status.h"
#include "partita/options/arguments.h"
#include "partita/session.h"
#include "tools/partita/model_input.h"

namespace partita {

// From --input and --test-data; others are random numbers of --seed. `inputs`:
// those with which an ONNX model was read.
absl::Status SetInputs(Session& session, const Arguments& arguments,
                       const TestInputs& inputs);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_RUN_INPUTS_H_
