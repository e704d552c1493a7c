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
absl::StatusOr<SharedDataset> OpenLabelledImages(const LabelledImages& images) {
  PARTITA_ASSIGN_OR_RETURN(
      SharedDataset dataset,
      OpenArrays({{kImageField, images.files.images, ""},
                  {kLabelField, images.files.labels, ""}}));
  absl::StatusOr<SharedDataset> normalized = Normalize(
      std::move(dataset), kImageField,
      {.mean = images.mean, .stddev = images.stddev, .dims = images.dims});
  if (!normalized.ok())
    return AtPlace(images.files.images, normalized.status());
  ClassLabels labels = {.num_classes = images.classes,
                        .ignored = kIgnoredLabel};
  labels.dims.emplace();  // for a sample: a scalar
  absl::StatusOr<SharedDataset> checked =
      CheckLabels(*std::move(normalized), kLabelField, labels);
  if (!checked.ok()) return AtPlace(images.files.labels, checked.status());
  return checked;
}

}  // namespace partita
