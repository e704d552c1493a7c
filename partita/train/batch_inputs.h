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

// The field of the samples' labels.
inline constexpr char kLabelField[] = "labels";
// The label of unknown classes and of padding; losses ignore it.
inline constexpr int64_t kIgnoredLabel = -100;

// Every input of the entry in use must be a field of the dataset, with its
// extents after `batch_size`. Otherwise InvalidArgument, which names both.
absl::Status CheckBatchInputs(const Session& session, const Dataset& dataset,
                              int64_t batch_size);

// The first number that is not finite in a float field of the batch's own
// samples, as "x.npy: sample 17: x: nan; expected finite numbers"; "" if all
// are finite. A label that is NaN, or the integer kIgnoredLabel, is unknown,
// which is an error only if all of the batch are.
std::string FindNotFinite(const Dataset& dataset, const LoadedBatch& batch);

// The same for all samples; unknown labels are no error.
absl::StatusOr<std::string> FindNotFiniteSample(const Dataset& dataset);

// Binds the inputs to the batch's own bytes, which must outlive the step.
absl::Status BindBatch(const Dataset& dataset, const LoadedBatch& batch,
                       Session& session);

// The number of known labels of the batch's own samples; the number of samples
// if the dataset has no labels.
int64_t CountKnownLabels(const Dataset& dataset, const LoadedBatch& batch);

// Marks the labels of padding as unknown; with NaN if labels are floats.
void IgnoreFilling(const Dataset& dataset, int64_t label, LoadedBatch& batch);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_BATCH_INPUTS_H_
