// Datasets that change one field of each sample of another dataset.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_TRANSFORM_H_
#define PARTITA_RUNTIME_DATASET_TRANSFORM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/tensor_type.h"
#include "runtime/dataset/dataset.h"

namespace partita {

// Computes the new value of a field at `to` from the old value at `from`, both
// aligned for their dtypes. Must depend only on its arguments, and be safe to
// call from several threads at once.
using FieldFunction = std::function<absl::Status(
    int64_t sample, const std::byte* from, std::byte* to)>;

// `dataset` with the field converted to `type` by `function`.
absl::StatusOr<SharedDataset> TransformField(SharedDataset dataset,
                                             absl::string_view field,
                                             TensorType type,
                                             FieldFunction function);

// y = (x / divisor - mean) / stddev, each step rounded to the result's dtype,
// like torchvision's ToTensor and Normalize.
struct Normalization {
  float divisor = 255;
  // One number for all, or one for each index of dimension 0 (a channel).
  std::vector<float> mean = {0};
  std::vector<float> stddev = {1};
  // The dims of the result, with as many elements: {1, 28, 28} for u8[28, 28].
  // Empty: unchanged.
  Shape dims;
  DType dtype = DType::kF32;  // of the result; or f64
};

// Channels are those of the result's dims.
absl::StatusOr<SharedDataset> Normalize(SharedDataset dataset,
                                        absl::string_view field,
                                        const Normalization& normalization);

struct ClassLabels {
  int64_t num_classes = 0;
  std::optional<int64_t> ignored;  // a label that is accepted, such as -100
  DType dtype = DType::kI64;       // of the result; or i32
  // The dims of the result, with as many elements; unset: unchanged.
  std::optional<Shape> dims;
};

// The integer field, where each label must be in 0 .. num_classes - 1. Another
// label is an error when its sample is read.
absl::StatusOr<SharedDataset> CheckLabels(SharedDataset dataset,
                                          absl::string_view field,
                                          const ClassLabels& labels);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_TRANSFORM_H_
