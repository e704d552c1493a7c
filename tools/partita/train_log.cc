// Writes what a person sees of a training.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/train_log.h"

#include <chrono>

#include "graph/status_macros.h"
#include "tools/partita/memory_report.h"

namespace partita {
namespace {

using Clock = std::chrono::steady_clock;

// Faster than anybody reads.
constexpr std::chrono::milliseconds kBetweenLines(100);

}  // namespace

TrainingEvents ShowTraining(const TrainReport& report, bool prints_epochs,
                            const Interruption& interruption,
                            Progress& progress) {
  TrainingEvents events;
  events.on_step = [&report, &progress,
                    shown = Clock::time_point()](double loss) mutable {
    const Clock::time_point now = Clock::now();
    if (now - shown < kBetweenLines) return;
    shown = now;
    progress.Stage(TrainProgressText(report, loss));
  };
  events.on_evaluation = [&progress] { progress.Stage("evaluate"); };
  if (prints_epochs) {
    events.on_epoch = [&report, &progress](const EpochRecord& epoch) {
      progress.Done();
      return WriteText("-", EpochText(epoch, report));
    };
  }
  events.wants_stop = [&interruption] { return interruption.came(); };
  return events;
}

absl::Status ReportIfUnread(const absl::Status& status, Progress& progress) {
  if (!HasNoReader(status)) return status;
  progress.Done();
  WriteError(status.message());
  return status;
}

absl::Status WriteReport(const Arguments& arguments, const TrainReport& report,
                         Progress& progress) {
  const absl::Status reported = WriteText(
      "-", arguments.has("json") ? TrainJson(report) : TrainEndText(report));
  // Last, so that a full disk costs nothing else, and since the reader of the
  // report may have stopped reading.
  if (!report.record.trace.empty()) {
    PARTITA_RETURN_IF_ERROR(
        WriteText(arguments.Get("trace", ""), report.record.trace));
  }
  if (!report.memory_snapshot.empty()) {
    PARTITA_RETURN_IF_ERROR(WriteText(
        arguments.Get(kMemorySnapshotFlag.name, ""), report.memory_snapshot));
  }
  return ReportIfUnread(reported, progress);
}

}  // namespace partita
