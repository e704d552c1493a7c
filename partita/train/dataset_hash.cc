// Hashes the samples' hashes.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/dataset_hash.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/host_tensor.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {

absl::StatusOr<ContentHash> HashDataset(const Dataset& dataset) {
  std::vector<HostTensor> fields;
  std::vector<std::byte*> to;
  for (const DatasetField& field : dataset.fields()) {
    to.push_back(fields.emplace_back(field.type).bytes());
  }
  std::vector<ContentHash> hashes;
  for (int64_t i = 0; i < dataset.num_samples(); ++i) {
    const absl::Status copied = dataset.CopySample(i, to);
    if (!copied.ok()) return AtPlace(absl::StrCat("sample ", i), copied);
    for (const HostTensor& field : fields) {
      hashes.push_back(HashBytes(field.byte_span()));
    }
  }
  return HashBytes({reinterpret_cast<const std::byte*>(hashes.data()),
                    hashes.size() * sizeof(ContentHash)});
}

}  // namespace partita
