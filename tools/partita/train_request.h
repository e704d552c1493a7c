// Reads the flags of every training, whatever the model.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_REQUEST_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/builder/update_rule.h"
#include "partita/options/arguments.h"
#include "partita/train/training_request.h"
#include "partita/train/training_run.h"

namespace partita {

// For --precision, the default first.
std::vector<std::string> PrecisionNames();

// For --nan, the default first.
std::vector<std::string> NanChoices();

// The flag --seed.
absl::StatusOr<int64_t> ReadSeed(const Arguments& arguments);

// `usual` is the model's own, for missing flags. CalledWrongly for flags that
// are out of range or exclude each other.
absl::StatusOr<TrainingRequest> ReadTrainRequest(const Arguments& arguments,
                                                 const UpdateRule& usual);

// CalledWrongly for flags that are out of range.
absl::StatusOr<TrainingRunOptions> ReadRunOptions(const Arguments& arguments);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_REQUEST_H_
