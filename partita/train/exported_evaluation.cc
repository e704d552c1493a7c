// Reads the variables that the evaluation reads.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/exported_evaluation.h"

#include <deque>
#include <utility>

#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/onnx/export/export.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "partita/onnx_file.h"
#include "runtime/plan/atomic_file.h"

namespace partita {
namespace {

constexpr char kEvaluate[] = "evaluate";

}  // namespace

absl::Status CheckExport(const Module& module, const std::string& path) {
  PARTITA_RETURN_IF_ERROR(ExportOnnx(module, kEvaluate).status());
  return AtomicFile::Create(path).status();
}

absl::Status ExportEvaluation(const Module& module, Session& session,
                              const std::string& path) {
  std::deque<HostTensor> values;
  VariableValues variables;
  for (const OpView& read : module.FindFunction(kEvaluate)->ops(kVariable)) {
    const std::string name = read.attr_string("name");
    PARTITA_ASSIGN_OR_RETURN(HostTensor value, session.ReadVariable(name));
    variables[name] = &values.emplace_back(std::move(value));
  }
  return WriteOnnx(module, kEvaluate, path, variables);
}

}  // namespace partita
