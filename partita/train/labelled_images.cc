// Opens, normalizes and checks.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/labelled_images.h"

#include <utility>

#include "graph/status_macros.h"
#include "partita/train/batch_inputs.h"
#include "runtime/dataset/array_dataset.h"
#include "runtime/dataset/transform.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

constexpr char kImageField[] = "images";

}  // namespace

absl::StatusOr<SharedDataset> OpenLabelledImages(const LabelledImages& files) {
  PARTITA_ASSIGN_OR_RETURN(SharedDataset dataset,
                           OpenArrays({{kImageField, files.images, ""},
                                       {kLabelField, files.labels, ""}}));
  absl::StatusOr<SharedDataset> normalized = Normalize(
      std::move(dataset), kImageField,
      {.mean = {files.mean}, .stddev = {files.stddev}, .dims = files.dims});
  if (!normalized.ok()) return AtPlace(files.images, normalized.status());
  absl::StatusOr<SharedDataset> checked = CheckLabels(
      *std::move(normalized), kLabelField, {.num_classes = files.classes});
  if (!checked.ok()) return AtPlace(files.labels, checked.status());
  return checked;
}

}  // namespace partita
