// Fields by name.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/dataset.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {

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

}  // namespace partita
