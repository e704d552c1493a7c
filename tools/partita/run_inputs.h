// The inputs of a run as the command line gives them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_RUN_INPUTS_H_
#define PARTITA_TOOLS_PARTITA_RUN_INPUTS_H_

#include "absl/status/status.h"
#include "partita/session.h"
#include "tools/partita/arguments.h"
#include "tools/partita/model_input.h"

namespace partita {

// From --input and --test-data; the others are random numbers of --seed.
// `inputs` are those that an ONNX model was read with.
absl::Status SetInputs(Session& session, const Arguments& arguments,
                       const TestInputs& inputs);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_RUN_INPUTS_H_
