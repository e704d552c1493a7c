// The report of a training, for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_REPORT_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "partita/compile.h"
#include "partita/train/training_record.h"
#include "runtime/executor/session_report.h"

namespace partita {

// What is known before the first step, the record, and what came of it.
struct TrainReport {
  std::string model;
  std::string strategy;
  std::string chosen_step;           // CompileReport's
  bool has_pins = false;             // CompileReport's
  std::vector<std::string> devices;  // that compute a part of the step
  Fallbacks fallbacks;
  double step_seconds = 0;                        // of a step, predicted
  double repeated_share = 0;                      // EntryReport's
  std::optional<ShardedUpdates> sharded_updates;  // EntryReport's
  std::string sample_noun;                        // "image"
  int64_t samples = 0;                            // of the dataset
  std::vector<std::string> class_names;  // by label; empty: labels are numbers
  int batch_norm_shards = 1;             // TrainableModel's
  std::string notice;                    // the session's; may be empty
  std::vector<ReplacedKernel> replaced_kernels;
  TrainingRecord record;
  std::vector<DeviceMemory> memory;  // at the end
  std::string memory_snapshot;       // its file's text; empty: not requested
  bool untraced = false;   // a trace was requested, but no step was left to do
  std::string checkpoint;  // path, if one was written
  std::string exported;    // path, if the trained model was written
  std::string generated;   // by the trained model; empty: nothing
};

// Whose statistics batch norms use, if not the whole batch's.
std::string BatchNormsText(int parts);

// One line each.
std::string TrainBeginText(const TrainReport& report);
std::string EpochText(const EpochRecord& epoch, const TrainReport& report);
std::string TrainEndText(const TrainReport& report);
// "[=====               ] epoch 2 of 5, step 1200 of 4690, loss 0.4123, 9123
// images/s, 0:32 left".
std::string TrainProgressText(const TrainReport& report, double loss);

std::string TrainJson(const TrainReport& report);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_REPORT_H_
