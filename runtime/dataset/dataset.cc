// Fields by name, and subsets of datasets.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/dataset.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

class SubsetOfDataset final : public Dataset {
 public:
  SubsetOfDataset(SharedDataset whole, int64_t first, int64_t end)
      : Dataset(whole->fields(), end - first),
        whole_(std::move(whole)),
        first_(first) {}

  absl::Status CopySample(int64_t sample,
                          absl::Span<std::byte* const> to) const override {
    return whole_->CopySample(first_ + sample, to);
  }

 private:
  const SharedDataset whole_;
  const int64_t first_;
};

}  // namespace

Dataset::Dataset(std::vector<DatasetField> fields, int64_t num_samples)
    : fields_(std::move(fields)), num_samples_(num_samples) {}

absl::StatusOr<int> Dataset::FieldIndex(absl::string_view name) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].name == name) return static_cast<int>(i);
  }
  return BadFile(
      "dataset", absl::StrCat("no field ", name),
      absl::StrCat("one of ", absl::StrJoin(fields_, ", ",
                                            [](std::string* out,
                                               const DatasetField& field) {
                                              out->append(field.name);
                                            })));
}

absl::StatusOr<SharedDataset> Subset(SharedDataset dataset, int64_t first,
                                     int64_t end) {
  if (first >= 0 && first <= end && end <= dataset->num_samples()) {
    return std::make_shared<const SubsetOfDataset>(std::move(dataset), first,
                                                   end);
  }
  return BadFile("dataset", absl::StrCat("samples ", first, "..", end),
                 absl::StrCat("a part of 0..", dataset->num_samples()));
}

}  // namespace partita
