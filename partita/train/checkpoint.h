// Trainings as files: every variable of a session, and the position.
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

// The next batch of a training.
struct TrainingPosition {
  int64_t epoch = 0;  // from 0
  int64_t batch = 0;  // in its epoch, from 0
  int64_t step = 0;   // finished batches, over all epochs
};

// A setting that decides the numbers of a training: "learning_rate", "0.01".
struct TrainingSetting {
  enum class Kind : uint8_t {
    kChosen,
    // differs whenever others do, like a hash over them; reported only if no
    // other differs
    kFollows,
    // another value gives the same numbers except for rounding: a plan
    kRounds,
  };
  std::string name;
  std::string value;
  Kind kind = Kind::kChosen;
  // The remedy if nothing else of its kind differs; empty: the kind's remedy.
  std::string fix = {};
};

// The plans with which a training may continue.
enum class ResumeOn : uint8_t {
  kSamePlan,     // bit for bit
  kAnotherPlan,  // other devices, kernels or micro-batches: up to rounding
};

struct ResumedTraining {
  TrainingPosition position;
  bool by_another_plan = false;  // than the checkpoint's
};

// A safetensors file with the variables, in their graph's types, and the
// position and the settings as metadata. It appears whole or not at all. Equal
// trainings write equal bytes: the file has no time.
absl::Status WriteCheckpoint(const std::string& path, Session& session,
                             const TrainingPosition& position,
                             absl::Span<const TrainingSetting> settings);

// Sets the session's variables to the checkpoint's values, on any number of
// devices: the file holds each variable whole. InvalidArgument, with the
// session unchanged, if the file is no checkpoint or damaged, or if it is of a
// training with other settings or another model; names each difference.
absl::StatusOr<ResumedTraining> ReadCheckpoint(
    const std::string& path, absl::Span<const TrainingSetting> settings,
    Session& session, ResumeOn resume_on = ResumeOn::kSamePlan);

// The variables with a NaN or an infinity, in their order.
absl::StatusOr<std::vector<std::string>> VariablesNotFinite(Session& session);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_CHECKPOINT_H_
