// What a dataset holds, as 128 bits.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_DATASET_HASH_H_
#define PARTITA_PARTITA_TRAIN_DATASET_HASH_H_

#include "absl/status/statusor.h"
#include "graph/literal_pool.h"
#include "runtime/dataset/dataset.h"

namespace partita {

// Of every sample's bytes, in their order; how the files are packed has no part
// in it. Reads them all, and so finds the first that is at fault: the error
// names the sample.
absl::StatusOr<ContentHash> HashDataset(const Dataset& dataset);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_DATASET_HASH_H_
