// Changes a field when a sample is read.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/transform.h"

#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

std::vector<DatasetField> WithType(std::vector<DatasetField> fields, int field,
                                   TensorType type) {
  fields[field].type = std::move(type);
  return fields;
}

class TransformedDataset final : public Dataset {
 public:
  TransformedDataset(SharedDataset source, int field, TensorType type,
                     FieldFunction function)
      : Dataset(WithType(source->fields(), field, std::move(type)),
                source->num_samples()),
        source_(std::move(source)),
        field_(field),
        function_(std::move(function)) {}

  absl::Status CopySample(int64_t sample,
                          absl::Span<std::byte* const> to) const override {
    const TensorType& type = source_->fields()[field_].type;
    const std::unique_ptr<std::byte[]> old(new std::byte[type.num_bytes()]);
    absl::InlinedVector<std::byte*, 8> through(to.begin(), to.end());
    through[field_] = old.get();
    PARTITA_RETURN_IF_ERROR(source_->CopySample(sample, through));
    return function_(sample, old.get(), to[field_]);
  }

 private:
  const SharedDataset source_;
  const int field_;
  const FieldFunction function_;
};

}  // namespace

absl::StatusOr<SharedDataset> TransformField(SharedDataset dataset,
                                             absl::string_view field,
                                             TensorType type,
                                             FieldFunction function) {
  PARTITA_ASSIGN_OR_RETURN(const int index, dataset->FieldIndex(field));
  if (absl::Status status = CheckType(type); !status.ok()) {
    return AtPlace(field, status);
  }
  return std::make_shared<const TransformedDataset>(
      std::move(dataset), index, std::move(type), std::move(function));
}

}  // namespace partita
