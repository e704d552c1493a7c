// Checks of attributes.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/winograd_form.h"

#include "absl/algorithm/container.h"

namespace partita {

bool IsForTiles(const OpView& op, absl::Span<const int64_t> kernel) {
  const auto all_ones = [&](const char* name) {
    return absl::c_all_of(op.attr_ints(name),
                          [](int64_t value) { return value == 1; });
  };
  return kernel == absl::Span<const int64_t>({3, 3}) &&
         op.attr_int("groups") == 1 && all_ones("strides") &&
         all_ones("dilations");
}

}  // namespace partita
