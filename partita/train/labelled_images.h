// Images with a class each, from files like MNIST's.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_LABELLED_IMAGES_H_
#define PARTITA_PARTITA_TRAIN_LABELLED_IMAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor_type.h"
#include "runtime/dataset/dataset.h"

namespace partita {

inline constexpr char kImageField[] = "images";

struct ImageFiles {
  std::string images;  // path of an IDX or .npy file: [samples, ...], bytes
  std::string labels;  // [samples], integers
};

struct LabelledImages {
  ImageFiles files;
  Shape dims;  // the shape of an image for the model; empty: unchanged
  int64_t classes = 0;
  // For bytes scaled to 0..1: one for all, or one for each channel.
  std::vector<float> mean = {0};
  std::vector<float> stddev = {1};
};

// Fields kImageField, f32 and normalized, and kLabelField, i64, each checked to
// be a class when it is read.
absl::StatusOr<SharedDataset> OpenLabelledImages(const LabelledImages& files);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_LABELLED_IMAGES_H_
