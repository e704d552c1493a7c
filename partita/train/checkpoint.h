// Trainings as files: every variable of a session, and where it stands.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_CHECKPOINT_H_
#define PARTITA_PARTITA_TRAIN_CHECKPOINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partita/session.h"

namespace partita {

inline constexpr int kCheckpointFormatVersion = 2;

// The batch that a training comes to next.
struct TrainingPosition {
  int64_t epoch = 0;  // from 0
  int64_t batch = 0;  // in its epoch, from 0
  int64_t step = 0;   // batches done, over all epochs
};

// Something that decides the numbers of a training: "learning_rate", "0.01".
struct TrainingSetting {
  enum class Kind : uint8_t {
    kChosen,
    kFollows,  // differs where others do, as a hash over them: told only if
               // none does
    kRounds,   // another value gives the same numbers but for rounding: a plan
  };
  std::string name;
  std::string value;
  Kind kind = Kind::kChosen;
  // What to do where nothing else of its kind differs; empty: what is done for
  // the kind.
  std::string fix = {};
};

// The plans that a training goes on by.
enum class ResumeOn : uint8_t {
  kSamePlan,     // bit for bit
  kAnotherPlan,  // other devices, kernels or parts of the batch: to rounding
};

struct ResumedTraining {
  TrainingPosition position;
  bool by_another_plan = false;  // than the checkpoint's
};

// A safetensors file with the variables, in their graph's types, and the
// position and the settings as metadata. It appears whole or not at all. Equal
// trainings make equal bytes: there is no time in it.
absl::Status WriteCheckpoint(const std::string& path, Session& session,
                             const TrainingPosition& position,
                             absl::Span<const TrainingSetting> settings);

// Gives the session's variables the checkpoint's values, on however many
// devices they lie: the file holds each whole. InvalidArgument, and the session
// as it was, if the file is no checkpoint or a damaged one, or if it is of a
// training with other settings or another model: each difference is named.
absl::StatusOr<ResumedTraining> ReadCheckpoint(
    const std::string& path, absl::Span<const TrainingSetting> settings,
    Session& session, ResumeOn resume_on = ResumeOn::kSamePlan);

// The variables in which a number is NaN or infinite, in their order.
absl::StatusOr<std::vector<std::string>> VariablesNotFinite(Session& session);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_CHECKPOINT_H_
