// Batches of a dataset as the inputs of an entry.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_BATCH_INPUTS_H_
#define PARTITA_PARTITA_TRAIN_BATCH_INPUTS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partita/session.h"
#include "runtime/dataset/dataset.h"
#include "runtime/dataset/loader.h"

namespace partita {

// The field that says what a sample is.
inline constexpr char kLabelField[] = "labels";
// The label of what is not known, or only fills up a batch: losses leave it
// out.
inline constexpr int64_t kIgnoredLabel = -100;

// Every input of the entry in use must be a field of the dataset, its extents
// behind `batch_size`. InvalidArgument, which names both, otherwise.
absl::Status CheckBatchInputs(const Session& session, const Dataset& dataset,
                              int64_t batch_size);

// Where a batch's own samples have no finite numbers in a float field, as
// "x.npy: sample 17: x: nan; expected finite numbers"; empty if they all are. A
// label that is NaN, or as an integer kIgnoredLabel, is not known, which is
// fine unless all of the batch are.
std::string FindNotFinite(const Dataset& dataset, const LoadedBatch& batch);

// The same of all samples; but unknown labels are fine.
absl::StatusOr<std::string> FindNotFiniteSample(const Dataset& dataset);

// Binds the inputs to the batch's own bytes, which must outlive the step.
absl::Status BindBatch(const Dataset& dataset, const LoadedBatch& batch,
                       Session& session);

// How many labels of the batch's own samples are known; the samples if the
// dataset has no labels.
int64_t CountKnownLabels(const Dataset& dataset, const LoadedBatch& batch);

// Labels what only fills the batch up; by a NaN where labels are floats.
void IgnoreFilling(const Dataset& dataset, int64_t label, LoadedBatch& batch);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_BATCH_INPUTS_H_
