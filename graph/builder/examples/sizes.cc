// Checks the sizes of a model.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/examples/sizes.h"

#include "absl/strings/str_cat.h"

namespace partita {

absl::Status CheckSizes(std::initializer_list<int64_t> sizes) {
  constexpr int64_t kLargest = 1 << 16;
  for (int64_t size : sizes) {
    if (size >= 1 && size <= kLargest) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("model: found size ", size, "; expected 1..", kLargest));
  }
  return absl::OkStatus();
}

}  // namespace partita
