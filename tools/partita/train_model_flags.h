// Reads flags that several models of `partita train` have.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_MODEL_FLAGS_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_MODEL_FLAGS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partita/options/arguments.h"
#include "partita/train/trainable_model.h"

namespace partita {

// The largest size of a batch, or within a model.
inline constexpr int64_t kMaxModelSize = 1 << 16;

// The values of --batch-norm.
std::vector<std::string> BatchNormKinds();

// CalledWrongly if a flag with a file of samples is missing.
absl::Status CheckGiven(const Arguments& arguments,
                        std::initializer_list<const char*> flags);

// --mean and --stddev; left as they are without the flag.
absl::Status ReadNormalization(const Arguments& arguments,
                               std::vector<double>& mean,
                               std::vector<double>& stddev);

// How many shards of the batch have statistics of their own. Without
// --batch-norm: with --replicas as in PyTorch's DistributedDataParallel;
// otherwise one, so that the number that the planner finds changes no
// arithmetic.
absl::StatusOr<int> ReadBatchNormParts(const Arguments& arguments);

// Adds the setting of these shards. CalledWrongly if they do not divide the
// batch; `change` says how to change it.
absl::Status AddBatchNormSettings(int shards, absl::string_view change,
                                  TrainableModel& model);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_MODEL_FLAGS_H_
