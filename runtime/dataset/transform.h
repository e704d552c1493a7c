// Datasets made of others by changing one field of each sample.
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

// Makes the new value of a field at `to` of the old one at `from`, both aligned
// for their dtypes. Must be a function of its arguments, and safe to call from
// several threads at once.
using FieldFunction = std::function<absl::Status(
    int64_t sample, const std::byte* from, std::byte* to)>;

// `dataset` with the field changed to `type` by `function`.
absl::StatusOr<SharedDataset> TransformField(SharedDataset dataset,
                                             absl::string_view field,
                                             TensorType type,
                                             FieldFunction function);

// y = (x / divisor - mean) / stddev, each step rounded to the result's dtype,
// as torchvision's ToTensor and Normalize.
struct Normalization {
  float divisor = 255;
  // One number for all, or one for each extent of dimension 0 (a channel).
  std::vector<float> mean = {0};
  std::vector<float> stddev = {1};
  // Of the result, for as many elements: {1, 28, 28} of u8[28, 28]. Empty: as
  // they are.
  Shape dims;
  DType dtype = DType::kF32;  // of the result; or f64
};

// Channels are those of the result's dims.
absl::StatusOr<SharedDataset> Normalize(SharedDataset dataset,
                                        absl::string_view field,
                                        const Normalization& normalization);

struct ClassLabels {
  int64_t num_classes = 0;
  std::optional<int64_t> ignored;  // a label that is let through, as -100
  DType dtype = DType::kI64;       // of the result; or i32
  // Of the result, for as many elements; none: as they are.
  std::optional<Shape> dims;
};

// The integer field with each label checked to be 0 .. num_classes - 1. A
// sample with another is an error when it is read.
absl::StatusOr<SharedDataset> CheckLabels(SharedDataset dataset,
                                          absl::string_view field,
                                          const ClassLabels& labels);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_TRANSFORM_H_
