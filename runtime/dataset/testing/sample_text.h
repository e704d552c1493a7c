// Samples as text, for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_TESTING_SAMPLE_TEXT_H_
#define PARTITA_RUNTIME_DATASET_TESTING_SAMPLE_TEXT_H_

#include <string>

#include "runtime/dataset/dataset.h"

namespace partita {

// "image: f32[1, 2], label: i64[]".
std::string FieldsText(const Dataset& dataset);
// "image 1 2 | label 7", or the error.
std::string SampleText(const Dataset& dataset, int64_t sample);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_TESTING_SAMPLE_TEXT_H_
