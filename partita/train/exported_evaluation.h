// A trained model as an ONNX file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_EXPORTED_EVALUATION_H_
#define PARTITA_PARTITA_TRAIN_EXPORTED_EVALUATION_H_

#include <string>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "partita/session.h"

namespace partita {

// Whether the module's @evaluate can be written to `path` as ONNX: asked before
// hours of training rather than after. Unimplemented listing the nodes that
// ONNX cannot express, or why no file can be made there.
absl::Status CheckExport(const Module& module, const std::string& path);

// Writes @evaluate with the present values of the session's variables
// (partita/onnx_file.h). The session is of a plan of this module.
absl::Status ExportEvaluation(const Module& module, Session& session,
                              const std::string& path);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_EXPORTED_EVALUATION_H_
