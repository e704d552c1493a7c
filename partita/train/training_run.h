// A training on its way: its step's plan, loaded, and the loop over its data.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TRAINING_RUN_H_
#define PARTITA_PARTITA_TRAIN_TRAINING_RUN_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partita/session.h"
#include "partita/train/checkpoint.h"
#include "partita/train/trainer.h"
#include "partita/train/training_record.h"
#include "partita/train/training_recorder.h"
#include "partita/train/training_setup.h"
#include "runtime/plan/plan.h"

namespace partita {

// How a training runs. Other devices and another plan may round differently;
// nothing else here changes the numbers.
struct TrainingRunOptions {
  LoadOptions load;
  bool stop_at_nan = true;  // TrainerOptions'
  std::string checkpoint;   // path, which is replaced; empty: none
  int64_t every = 0;        // steps between two; 0: an epoch
  std::string resume;       // the checkpoint to continue; empty: none
  ResumeOn resume_on = ResumeOn::kSamePlan;
  // Path of the table of losses (loss_table.h), which a resumed training
  // continues; empty: none.
  std::string loss_table;
  bool trace = false;  // keeps the last step's timeline
};

// From a model to the file of the trained one:
//
//   auto setup = SetUpTraining({.epochs = 3, .export_path = "trained.onnx"},
//                              *MnistModel(images, /*dropout=*/0.5));
//   if (!setup.ok()) return setup.status();
//   auto compiled = Compile(setup->module.Clone(), machine);
//   if (!compiled.ok()) return compiled.status();
//   auto plan = std::make_shared<const Plan>(std::move(compiled->plan));
//   auto run = TrainingRun::Start(*setup, plan, {.checkpoint = "a.st"});
//   if (!run.ok()) return run.status();
//   TrainingRecord record = (*run)->NewRecord();
//   if (auto done = (*run)->Run(record); !done.ok()) return done;
//   return ExportEvaluation(setup->exported(), (*run)->session(),
//                           setup->request.export_path);
class TrainingRun {
 public:
  // Loads the plan of setup.module, and the checkpoint to continue.
  // InvalidArgument if that is of another training; the settings are the
  // setup's and the plan's. `setup` must outlive this.
  static absl::StatusOr<std::unique_ptr<TrainingRun>> Start(
      const TrainingSetup& setup, std::shared_ptr<const Plan> plan,
      const TrainingRunOptions& options);

  // Nothing else may use it during Run, except for the events.
  Session& session() { return *session_; }

  // A record of no steps, with what is known before the first.
  TrainingRecord NewRecord() const;

  // Trains until all epochs are done, an event ends the training, or there is
  // an error (trainer.h), and evaluates after each epoch if the model has test
  // data. Call it once. `record` is NewRecord()'s; it is up to date at each
  // event.
  absl::Status Run(TrainingRecord& record, const TrainingEvents& events = {});

 private:
  TrainingRun(const TrainingSetup& setup, const TrainingRunOptions& options)
      : setup_(setup), options_(options) {}
  absl::Status CreateTrainer();
  absl::StatusOr<LossTable> OpenTable() const;

  const TrainingSetup& setup_;
  const TrainingRunOptions options_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Trainer> trainer_;  // of session_
};

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TRAINING_RUN_H_
