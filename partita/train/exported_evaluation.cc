// Reads the variables that the function reads.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/exported_evaluation.h"

#include <deque>
#include <utility>

#include "graph/atomic_file.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/onnx/export/export.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "partita/onnx_file.h"

namespace partita {

absl::Status CheckExport(const ExportedFunction& function,
                         const std::string& path) {
  PARTITA_RETURN_IF_ERROR(ExportOnnx(function.module, function.name).status());
  return CheckWritable(path);
}

absl::Status ExportEvaluation(const ExportedFunction& function,
                              Session& session, const std::string& path) {
  const Graph& graph = *function.module.FindFunction(function.name);
  std::deque<HostTensor> values;
  VariableValues variables;
  for (const OpView& read : graph.ops(kVariable)) {
    const std::string name = read.attr_string("name");
    PARTITA_ASSIGN_OR_RETURN(HostTensor value, session.ReadVariable(name));
    variables[name] = &values.emplace_back(std::move(value));
  }
  return WriteOnnx(function.module, function.name, path, variables);
}

}  // namespace partita
