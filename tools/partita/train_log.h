// Shows a training on its way and its end: the state of its steps, a line for
// each epoch, the report.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_LOG_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_LOG_H_

#include "absl/status/status.h"
#include "partita/options/arguments.h"
#include "partita/train/training_recorder.h"
#include "tools/partita/interruption.h"
#include "tools/partita/output.h"
#include "tools/partita/train_report.h"

namespace partita {

// `report.record` is the training's. The training stops at an interruption.
// Epochs are lines on standard output if `prints_epochs`. All arguments must
// outlive the events.
TrainingEvents ShowTraining(const TrainReport& report, bool prints_epochs,
                            const Interruption& interruption,
                            Progress& progress);

// Returns `status`, printed first if nobody reads standard output: a program
// without a reader ends silently, but a training reports what was kept.
absl::Status ReportIfUnread(const absl::Status& status, Progress& progress);

// Writes the report to standard output, the timeline to the file of --trace and
// the use of memory to that of --memory-snapshot.
absl::Status WriteReport(const Arguments& arguments, const TrainReport& report,
                         Progress& progress);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_LOG_H_
