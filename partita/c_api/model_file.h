// Models by the name of their file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_MODEL_FILE_H_
#define PARTITA_PARTITA_C_API_MODEL_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/c_api/compile_options.h"

namespace partita::c_api {

// An ONNX model, a module as text if the name ends in .graph, or
// builtin:resnet50 and similar (graph/builder/examples). Warnings of the
// importer are appended to `warnings`, one line each. Errors: as ImportOnnx's
// and ParseModule's, with the option that would help; InvalidArgument for a
// plan, and for options of ONNX models with another one.
absl::StatusOr<Module> ReadModelFile(const std::string& name,
                                     const CompileSettings& settings,
                                     std::string& warnings);

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_MODEL_FILE_H_
