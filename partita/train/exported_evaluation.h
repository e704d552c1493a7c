// A trained model as an ONNX file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_EXPORTED_EVALUATION_H_
#define PARTITA_PARTITA_TRAIN_EXPORTED_EVALUATION_H_

#include <string>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "partita/session.h"

namespace partita {

// A function that updates no variable.
struct ExportedFunction {
  const Module& module;
  std::string name = "evaluate";
};

// Checks that the function can be written to `path` as ONNX, before hours of
// training rather than after. Unimplemented with the nodes that ONNX cannot
// express, or the reason why no file can be created there.
absl::Status CheckExport(const ExportedFunction& function,
                         const std::string& path);

// Writes the function with the present values of the session's variables
// (partita/onnx_file.h). The session has each variable that the function reads.
absl::Status ExportEvaluation(const ExportedFunction& function,
                              Session& session, const std::string& path);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_EXPORTED_EVALUATION_H_
