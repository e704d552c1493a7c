// What the command line asks `partita train` for.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_REQUEST_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/builder/examples/models.h"
#include "partita/train/checkpoint.h"
#include "partita/train/labelled_images.h"
#include "tools/partita/arguments.h"

namespace partita {

struct TrainRequest {
  std::string model;  // "builtin:mnist"
  MnistTrainingOptions network;
  int64_t epochs = 10;
  double mean = 0.1307;  // of MNIST's training images
  double stddev = 0.3081;
  LabelledImages train;
  LabelledImages test;  // no paths: none is asked for
};

// CalledWrongly for flags that are missing or out of range.
absl::StatusOr<TrainRequest> ReadTrainRequest(const Arguments& arguments);

// The options that decide the numbers, by the names of their flags.
std::vector<TrainingSetting> SettingsOf(const TrainRequest& request);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_REQUEST_H_
