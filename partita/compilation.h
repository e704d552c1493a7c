// The compilation of one module: its stages, in order.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_COMPILATION_H_
#define PARTITA_PARTITA_COMPILATION_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/attempt.h"
#include "partita/compile.h"
#include "partita/compile_target.h"
#include "partita/predict.h"
#include "partita/source_module.h"
#include "partita/stage_clock.h"
#include "placement/machine/machine.h"
#include "placement/planner/planner.h"
#include "runtime/plan/plan.h"

namespace partita {

class Compilation {
 public:
  // `machine` and `options` must outlive it.
  Compilation(Module module, const Machine& machine,
              const CompileOptions& options);

  // Opens the code generator beside the first stages that need it, for
  // BuildCode. Call it before any strategy.
  void OpenCodegenEarly() { opens_codegen_early_ = true; }
  // Writes the pins and runs the source passes. Call it first.
  absl::Status Optimise();
  // Splits the batch into micro-batches if the options say so. Call it before
  // any strategy.
  absl::Status DivideIntoMicroBatches();
  const Module& source() const { return source_.module(); }
  CompileReport& report() { return report_; }

  // Places, chooses kernels and lowers, as Attempts::Try.
  absl::StatusOr<Attempt> Try(const Planner& planner, bool with_texts = false);

  absl::StatusOr<Prediction> Predict(Attempt& attempt);
  // Generated code for the plan's nodes.
  absl::Status BuildCode(Plan& plan);
  // Proves the plan down to the source, as ProveAttempt.
  absl::Status Prove(Attempt& attempt);

 private:
  CompileReport report_;
  const CompileTarget target_;
  StageClock stages_;
  SourceModule source_;
  bool opens_codegen_early_ = false;
  std::optional<Attempts> attempts_;  // from the first strategy on
};

}  // namespace partita

#endif  // PARTITA_PARTITA_COMPILATION_H_
