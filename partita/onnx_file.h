// Functions of a module as ONNX files.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_ONNX_FILE_H_
#define PARTITA_PARTITA_ONNX_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/evaluate.h"
#include "graph/graph.h"

namespace partita {

// Writes the function as in graph/onnx/export/export.h, with these values of
// variables; others have their initial ones. Above 2 GiB the weights are in a
// second file beside it, PATH.data. Each file appears whole or not at all, the
// weights first. Removes a PATH.data that only the old model at PATH used.
absl::Status WriteOnnx(const Module& module, absl::string_view function,
                       const std::string& path,
                       const VariableValues& variables = {});

}  // namespace partita

#endif  // PARTITA_PARTITA_ONNX_FILE_H_
