// A small dataset that a network can learn, as files like MNIST's.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TESTING_BAR_IMAGES_H_
#define PARTITA_PARTITA_TRAIN_TESTING_BAR_IMAGES_H_

#include <cstdint>
#include <string>

#include "partita/train/labelled_images.h"

namespace partita {

// IDX files of u8, named after `prefix`: [samples, 28, 28] of noise with a
// bright bar whose position is the label, 0..9.
ImageFiles WriteBarImages(const std::string& prefix, int64_t samples,
                          uint64_t seed);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TESTING_BAR_IMAGES_H_
