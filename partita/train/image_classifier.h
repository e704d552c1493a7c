// Image classifiers, as models to train.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_IMAGE_CLASSIFIER_H_
#define PARTITA_PARTITA_TRAIN_IMAGE_CLASSIFIER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "partita/train/labelled_images.h"
#include "partita/train/trainable_model.h"

namespace partita {

struct ImageClassifierOptions {
  ImageFiles train;
  ImageFiles test;  // no paths: no test
  // For the images' bytes as 0..1: one for all, or one for each channel.
  std::vector<double> mean = {0};
  std::vector<double> stddev = {1};
  int64_t batch = 64;
};

// The network of MnistTraining, for images of 28x28 and ten classes.
absl::StatusOr<TrainableModel> MnistModel(const ImageClassifierOptions& options,
                                          double dropout);

// The network of ResNet18Training, for square images of any size: [side, side]
// or [channels, side, side] in the files. For `batch_norm_shards` see there.
absl::StatusOr<TrainableModel> ResNet18Model(
    const ImageClassifierOptions& options, int64_t classes,
    int batch_norm_shards = 1);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_IMAGE_CLASSIFIER_H_
