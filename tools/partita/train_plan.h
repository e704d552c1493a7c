// The plan of a training's step: compiled, and reported.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_PLAN_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_PLAN_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partita/compile.h"
#include "partita/options/arguments.h"
#include "partita/train/training_setup.h"
#include "tools/partita/output.h"
#include "tools/partita/train_report.h"

namespace partita {

// By the flags of ReadCompileOptions and --machine. A refusal for memory has a
// command line to call instead; CalledWrongly as CheckReplicas.
absl::StatusOr<Compiled> CompileStep(const TrainingSetup& setup,
                                     const Arguments& arguments,
                                     Progress& progress);

// Writes the plan to the file of --plan, and reports it instead of a training.
absl::Status ReportPlan(const Compiled& compiled, int batch_norm_shards,
                        const Arguments& arguments, Progress& progress);

// What is known of a training once it is compiled.
TrainReport ReportHead(const TrainingSetup& setup,
                       const CompileReport& compiled);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_PLAN_H_
