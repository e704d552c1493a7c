// Prints fields and samples.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/testing/sample_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/host_tensor.h"

namespace partita {

std::string FieldsText(const Dataset& dataset) {
  return absl::StrJoin(
      dataset.fields(), ", ", [](std::string* out, const DatasetField& field) {
        absl::StrAppend(out, field.name, ": ", field.type.ToString());
      });
}

std::string SampleText(const Dataset& dataset, int64_t sample) {
  std::vector<HostTensor> fields;
  std::vector<std::byte*> to;
  for (const DatasetField& field : dataset.fields()) {
    to.push_back(fields.emplace_back(field.type).bytes());
  }
  const absl::Status status = dataset.CopySample(sample, to);
  if (!status.ok()) return std::string(status.message());
  std::vector<std::string> parts;
  for (size_t i = 0; i < fields.size(); ++i) {
    std::string part = dataset.fields()[i].name;
    for (int64_t e = 0; e < fields[i].type().num_elements(); ++e) {
      absl::StrAppend(&part, " ", GetAsDouble(fields[i], e));
    }
    parts.push_back(std::move(part));
  }
  return absl::StrJoin(parts, " | ");
}

}  // namespace partita
