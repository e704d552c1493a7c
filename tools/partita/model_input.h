// Models as the command line names them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_MODEL_INPUT_H_
#define PARTITA_TOOLS_PARTITA_MODEL_INPUT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "partita/options/arguments.h"
#include "partita/options/import_flags.h"
#include "partita/options/model_file.h"

namespace partita {

// By name; nullopt if the files give inputs an order but no names.
using TestInputs = std::optional<std::map<std::string, HostTensor>>;

// The command's operand, by ReadModelFile. Warnings go to standard error. An
// ONNX model is read for the data of --test-data or --input, which are stored
// in `inputs`.
absl::StatusOr<Module> ReadModel(const Arguments& arguments,
                                 TestInputs& inputs);
absl::StatusOr<Module> ReadModel(const Arguments& arguments);
// The same without repeating warnings.
absl::StatusOr<Module> ReadModelAgain(const Arguments& arguments);
// An ONNX model as the function "train", with its weights as variables.
absl::StatusOr<Module> ReadTrainedOnnx(const std::string& path,
                                       const Arguments& arguments);
// The same with another batch. InvalidArgument if the file has a fixed one.
absl::StatusOr<Module> ReadRebatchedOnnx(const std::string& path,
                                         const Arguments& arguments,
                                         int64_t batch);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_MODEL_INPUT_H_
