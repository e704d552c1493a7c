// Images with a class each, from files of MNIST's kind.
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
  Shape dims;  // of an image as the model reads it; empty: as it is
  int64_t classes = 0;
  // Of what is 0..1 of a byte's 0..255: one for all, or one a channel.
  std::vector<float> mean = {0};
  std::vector<float> stddev = {1};
};

// Fields kImageField, f32 and normalized, and kLabelField, i64, each checked to
// be a class when it is read.
absl::StatusOr<SharedDataset> OpenLabelledImages(const LabelledImages& files);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_LABELLED_IMAGES_H_
