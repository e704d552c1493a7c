// Trainings of a small network with images of bars, for tests of the trainer.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TESTING_BAR_TRAINING_H_
#define PARTITA_PARTITA_TRAIN_TESTING_BAR_TRAINING_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "graph/builder/update_rule.h"
#include "partita/train/labelled_images.h"
#include "partita/train/testing/bar_images.h"
#include "partita/train/trainer.h"
#include "runtime/plan/plan.h"

namespace partita {

// An epoch has six batches. The last one has three samples, and five of
// padding.
inline constexpr int64_t kSamples = 43;
inline constexpr int64_t kBatch = 8;
inline constexpr int64_t kEpochs = 3;
inline constexpr int64_t kSteps = 18;

LabelledImages Described(const ImageFiles& files);

// From files that it writes.
SharedDataset Images(int64_t samples = kSamples, uint64_t seed = 1);

UpdateRule Sgd(double learning_rate);

// For one device, created once.
std::shared_ptr<const Plan> SharedPlan();

// With these settings; checkpoints go to a file, or nowhere if it has no name.
TrainerOptions Options(const std::string& checkpoint);

// A new session trains from the checkpoint, if there is one, until the observer
// stops it.
absl::StatusOr<TrainingEnd> TrainOn(
    const std::string& checkpoint, TrainingObserver& observer,
    const std::shared_ptr<const Plan>& plan = SharedPlan());

// The checkpoint of an uninterrupted training.
std::string TrainedAtOnce();

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TESTING_BAR_TRAINING_H_
