// A dataset's contents, as 128 bits.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_DATASET_HASH_H_
#define PARTITA_PARTITA_TRAIN_DATASET_HASH_H_

#include "absl/status/statusor.h"
#include "graph/literal_pool.h"
#include "runtime/dataset/dataset.h"

namespace partita {

// A hash of every sample's bytes, in order; independent of the files'
// compression. Reads all samples, so it finds the first faulty one: the error
// names it.
absl::StatusOr<ContentHash> HashDataset(const Dataset& dataset);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_DATASET_HASH_H_
