// Datasets for training and evaluation: samples, each with the same fields.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_DATASET_H_
#define PARTITA_RUNTIME_DATASET_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/tensor_type.h"

namespace partita {

struct DatasetField {
  std::string name;
  TensorType type;     // of one sample, row-major
  std::string source;  // for messages: the file it is read from, or empty
};

// Samples 0 .. num_samples() - 1. Thread safety: immutable, so all calls may
// run in parallel.
class Dataset {
 public:
  virtual ~Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  const std::vector<DatasetField>& fields() const { return fields_; }
  int64_t num_samples() const { return num_samples_; }
  // InvalidArgument, with the list of fields, if there is no such field.
  absl::StatusOr<int> FieldIndex(absl::string_view name) const;

  // Writes field i of the sample to `to[i]`, which has room for the field's
  // type and the alignment of its dtype. Messages begin with the field's name.
  virtual absl::Status CopySample(int64_t sample,
                                  absl::Span<std::byte* const> to) const = 0;

 protected:
  Dataset(std::vector<DatasetField> fields, int64_t num_samples);

 private:
  const std::vector<DatasetField> fields_;
  const int64_t num_samples_;
};

// Shared by derived datasets and by loaders.
using SharedDataset = std::shared_ptr<const Dataset>;

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_DATASET_H_
